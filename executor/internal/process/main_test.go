package process

import (
	"testing"

	"github.com/satchel-go/satchel/executor/executortest"
)

func TestMain(m *testing.M) { executortest.Main(m) }
