package process

import "time"

// Bounds of the grace, which is how long processes may go on after the program has exited,
// and after SIGTERM. A program that saves its work takes milliseconds; a caller waits for
// the grace at every timeout.
const (
	DefaultGrace = 250 * time.Millisecond
	MaxGrace     = 10 * time.Second
)

// drainWait is how long output is read after everything was killed. The pipes
// have ended by then, unless a process got away. If they still hold output, the
// host may only be busy: then reading goes on for up to drainTries times as long,
// so that nothing is lost.
const (
	drainWait  = 100 * time.Millisecond
	drainTries = 100
)

// The default size of a terminal, in characters: that of every terminal before windows.
const (
	defaultRows = 24
	defaultCols = 80
)

// MaxOpenFiles bounds the descriptors of a command. It is not a field of Limits,
// because no program of a skill needs more. The host's own limit applies as well.
const MaxOpenFiles = 4096
