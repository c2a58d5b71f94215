package executor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// checkExtras reports pipes, ports and secrets that have no meaning.
func (c Command) checkExtras() error {
	if len(c.Pipes) > maxPipes {
		return fmt.Errorf("%w: %d pipes: at most %d", ErrCommand, len(c.Pipes), maxPipes)
	}
	if len(c.Listen) > maxListen {
		return fmt.Errorf("%w: %d ports to listen on: at most %d", ErrCommand, len(c.Listen), maxListen)
	}
	for port, serve := range c.Listen {
		switch {
		case port < minPort:
			return fmt.Errorf("%w: port %d: want %d to 65535", ErrCommand, port, minPort)
		case serve == nil:
			return fmt.Errorf("%w: port %d has no function that serves it", ErrCommand, port)
		}
	}
	return c.checkSecrets()
}

func (c Command) checkSecrets() error {
	if len(c.Secrets) > maxSecrets {
		return fmt.Errorf("%w: %d secrets: at most %d", ErrCommand, len(c.Secrets), maxSecrets)
	}
	total := 0
	for name, value := range c.Secrets {
		if !isSecretName(name) {
			return fmt.Errorf("%w: secret %q: want upper-case letters, digits and _, at most %d", ErrCommand, name, maxSecretName)
		}
		total += len(value)
	}
	if total > maxSecretBytes {
		return fmt.Errorf("%w: %d bytes of secrets: at most %d", ErrCommand, total, maxSecretBytes)
	}
	return nil
}

func isSecretName(name string) bool {
	return name != "" && len(name) <= maxSecretName && (name[0] < '0' || name[0] > '9') &&
		strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// CheckPipes reports a file of Pipes that is no pipe; the error wraps ErrCommand.
// Executors that pass pipes on call it after Check.
func (c Command) CheckPipes() error {
	for i, file := range c.Pipes {
		info, err := file.Stat()
		if errors.Is(err, os.ErrInvalid) || errors.Is(err, os.ErrClosed) {
			return fmt.Errorf("%w: descriptor %d is closed", ErrCommand, 3+i)
		} else if err != nil {
			return fmt.Errorf("%w: descriptor %d: %w", ErrCommand, 3+i, err)
		}
		if info.Mode().Type() != fs.ModeNamedPipe {
			return fmt.Errorf("%w: descriptor %d is no pipe: nothing else may be passed on", ErrCommand, 3+i)
		}
	}
	return nil
}

// CheckLoopback returns an ErrCommand error if the command has Listen or Secrets. Executors
// that give a command no network of its own call it.
func (c Command) CheckLoopback() error {
	switch {
	case len(c.Listen) > 0:
		return fmt.Errorf("%w: listening on a port needs namespaces", ErrCommand)
	case len(c.Secrets) > 0:
		return fmt.Errorf("%w: a file for secrets needs namespaces", ErrCommand)
	}
	return nil
}
