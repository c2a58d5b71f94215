package terminal

import "errors"

var (
	// ErrUnknown is wrapped when an owner has no such session.
	ErrUnknown = errors.New("unknown session")
	// ErrGone is wrapped when an owner had such a session on a machine that is gone.
	ErrGone = errors.New("has ended: the machine that ran it is gone, with its output. Start it again if it is still needed.")
	// ErrFull is wrapped when no more sessions may run.
	ErrFull = errors.New("too many sessions run")
	// ErrEnded is wrapped when the process of a session takes no more input.
	ErrEnded = errors.New("session takes no more input")
	// ErrInput is wrapped when more input waits than is kept.
	ErrInput = errors.New("too much input waits")
	// ErrClosed is wrapped when the table was closed, or the owner's sessions
	// were ended, before the process could be started.
	ErrClosed = errors.New("sessions are closed")
)
