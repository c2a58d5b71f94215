//go:build !unix

package process

import (
	"errors"
	"os"

	"github.com/satchel-go/satchel/executor"
)

var errNoTerminals = errors.New("there are no pseudo terminals on this system")

func openTerminal(uint16, uint16) (ours, theirs *os.File, err error) {
	return nil, nil, errNoTerminals
}

func resizeTerminal(*os.File, uint16, uint16) error { return errNoTerminals }

// TerminalCapability says that this system has no terminals.
func TerminalCapability() executor.Capability {
	return executor.Capability{Note: errNoTerminals.Error()}
}
