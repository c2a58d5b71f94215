// Package cli holds what all commands share: the console, exit codes, output and the reading of lines.
package cli

import (
	"errors"
	"io"
	"os"
	"time"
)

// The exit codes of every command.
const (
	ExitDone   = 0
	ExitFailed = 1 // something was not done; standard error says what
	ExitUsage  = 2 // wrong arguments or environment; nothing was done
)

// ErrStart reports that a command has done nothing, because it lacks what it needs, such as a
// directory that cannot be opened. The program exits with ExitUsage.
var ErrStart = errors.New("cannot start")

// ErrUsage is the ErrStart of wrong arguments. The program prints the usage line of the command
// after it.
var ErrUsage = Usage(ErrStart)

// Usage makes an error about arguments an ErrUsage, and keeps its text.
func Usage(err error) error { return usageError{err} }

// usageError is an error about arguments.
type usageError struct{ error }

// Unwrap returns the error about the arguments.
func (e usageError) Unwrap() error { return e.error }

// Is reports whether target is ErrUsage or ErrStart.
func (usageError) Is(target error) bool { return target == ErrUsage || target == ErrStart }

// ErrReported makes the program exit with code 1 without a message, because the command has printed
// the cause.
var ErrReported = errors.New("reported")

// Console is the input, output and environment of a command. Tests replace it.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(string) string
	// TTY opens the terminal of the process, on which questions are asked where the
	// input is piped. Nil means that there is none.
	TTY func() (io.ReadWriteCloser, error)
	// Terminal reports that a person types the input, Watched that a person reads the output, and
	// Colour that the output may have colours.
	Terminal, Watched, Colour bool
	// Attended reports that a person reads standard error. Width is the width of the terminal in
	// columns.
	Attended bool
	Width    int
	// delay is how long work lasts before its progress is shown.
	delay time.Duration
	// AtExit holds values that the program closes when the command has ended.
	AtExit *Closers
}

// IsTerminal reports whether a file is a terminal: a character device that is not the
// null device.
func IsTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// terminalDevice is the terminal of this process, whatever its standard input is.
const terminalDevice = "/dev/tty"

// OpenTerminal opens the terminal of this process for questions and answers.
func OpenTerminal() (io.ReadWriteCloser, error) { return os.OpenFile(terminalDevice, os.O_RDWR, 0) }

// NewConsole returns the console of this process.
func NewConsole() Console {
	return Console{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv,
		TTY:      OpenTerminal,
		Terminal: IsTerminal(os.Stdin),
		Watched:  IsTerminal(os.Stdout),
		Attended: IsTerminal(os.Stderr) && os.Getenv("TERM") != "dumb",
		delay:    progressDelay,
		Width:    widthOf(os.Stdout, os.Getenv),
		Colour:   IsTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}
