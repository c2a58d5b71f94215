package local

import (
	"time"

	"github.com/satchel-go/satchel/executor/internal/process"
)

// defaultGrace is how long processes of a command have to end by themselves.
const defaultGrace = process.DefaultGrace

// maxBusyPause is the longest pause before another attempt to start a program whose file is open
// for writing. With the shorter pauses before it that is about a second.
const maxBusyPause = 512 * time.Millisecond
