package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/satchel-go/satchel/executor"
)

// lost returns the result of a command whose runner was lost.
func lost(cause error) (executor.Result, error) {
	return executor.Result{ExitCode: -1, Reason: executor.ReasonLost, Stderr: executor.Stream{Head: []byte(executor.LostText + "\n")}},
		fmt.Errorf("%w: %w", executor.ErrLost, cause)
}

// neverRan is the result of a command that was not started.
func neverRan() executor.Result {
	return executor.Result{ExitCode: -1, Reason: executor.ReasonSetup}
}

// cancelled is the result of a command that was cancelled before it was started.
func cancelled() executor.Result {
	return executor.Result{ExitCode: -1, Reason: executor.ReasonCancelled}
}

// errorMessage is an error of the runner, with the names of the errors that it wraps.
type errorMessage struct {
	Text  []byte
	Wraps []string `json:",omitempty"`
}

// wrapped are the errors that callers look for.
var wrapped = map[string]error{
	"command":     executor.ErrCommand,
	"setup":       executor.ErrSetup,
	"unsupported": errors.ErrUnsupported,
	"cancelled":   context.Canceled,
	"deadline":    context.DeadlineExceeded,
	"none":        fs.ErrNotExist,
}

// messageOf returns the message for an error, or nil for nil.
func messageOf(err error) *errorMessage {
	if err == nil {
		return nil
	}
	m := &errorMessage{Text: []byte(cut(err.Error()))}
	for name, target := range wrapped {
		if errors.Is(err, target) {
			m.Wraps = append(m.Wraps, name)
		}
	}
	slices.Sort(m.Wraps)
	return m
}

// error returns the error of a message, or nil for nil.
func (m *errorMessage) error() error {
	if m == nil {
		return nil
	}
	err := &runnerError{text: printable(cut(string(m.Text)))}
	for _, name := range m.Wraps {
		if target, ok := wrapped[name]; ok {
			err.wraps = append(err.wraps, target)
		}
	}
	return err
}

// runnerError is an error of a runner. Its text is that of the runner.
type runnerError struct {
	text  string
	wraps []error
}

func (e *runnerError) Error() string { return e.text }

func (e *runnerError) Unwrap() []error { return e.wraps }

// cut shortens a text to maxText bytes.
func cut(text string) string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + " ..."
	}
	return text
}

// printable returns a text of a runner without characters that control a terminal. Its lines stay.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}
		return r
	}, text)
}

// causeOf returns why a connection ended, in words if the other side just closed it.
func causeOf(err error) error { return cmp.Or(err, errClosed) }

// errClosed is the cause if this side ended the connection.
var errClosed = errors.New("the connection was closed")
