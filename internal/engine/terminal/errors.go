package terminal

import "errors"

var (
	// ErrUnknown reports that an owner has no such session.
	ErrUnknown = errors.New("unknown session")
	// ErrGone reports that the session ran on a machine that no longer exists.
	ErrGone = errors.New("has ended: the machine that ran it is gone, with its output. Start it again if it is still needed.")
	// ErrFull reports that no more sessions may run.
	ErrFull = errors.New("too many sessions run")
	// ErrEnded reports that the process of a session takes no more input.
	ErrEnded = errors.New("session takes no more input")
	// ErrInput reports that the process has not read enough of its earlier input.
	ErrInput = errors.New("too much input waits")
	// ErrClosed reports that the table was closed, or the owner's sessions were ended, before the
	// process could start.
	ErrClosed = errors.New("sessions are closed")
)
