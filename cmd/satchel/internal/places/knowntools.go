package places

import (
	"github.com/satchel-go/satchel/internal/engine/judging"
)

// KnownTools are the tools that entries of allowed-tools can mean without a host's own.
var KnownTools = judging.NewNames()
