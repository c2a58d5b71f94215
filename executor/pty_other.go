//go:build !unix

package executor

import (
	"errors"
	"os"
)

var errNoTerminals = errors.New("there are no pseudo terminals on this system")

func openTerminal(uint16, uint16) (ours, theirs *os.File, err error) {
	return nil, nil, errNoTerminals
}

func resizeTerminal(*os.File, uint16, uint16) error { return errNoTerminals }

func terminalCapability() Capability { return Capability{Note: errNoTerminals.Error()} }
