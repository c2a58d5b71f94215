package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/text/printable"
)

// setupError is an error with a text of one line that says what to do. It wraps executor.ErrSetup
// and its cause.
type setupError struct {
	text  string
	cause error
}

func (e *setupError) Error() string { return e.text }

func (e *setupError) Unwrap() []error {
	if e.cause == nil {
		return []error{executor.ErrSetup}
	}
	return []error{executor.ErrSetup, e.cause}
}

// failure returns a setupError. Its text has one line.
func failure(cause error, format string, args ...any) error {
	return &setupError{text: "docker: " + oneLine(fmt.Sprintf(format, args...)), cause: cause}
}

// oneLine joins the lines of a text, and drops characters that control a terminal.
func oneLine(text string) string { return strings.Join(strings.Fields(printable.Visible(text)), " ") }

// engineError returns the error for a call of the engine that failed. what says what the call was
// for. It does not change the errors of ctx and those that have a text already.
func engineError(ctx context.Context, host, what string, err error) error {
	var known *setupError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("docker: %s: %w", what, ctx.Err())
	case errors.As(err, &known):
		return err
	case errors.Is(err, fs.ErrPermission) || isDenied(err):
		return failure(err, "cannot read %s: permission denied: join its group, or use rootless", host)
	case isAbsent(err):
		return failure(err, "no daemon at %s: start it, or set DOCKER_HOST", host)
	case strings.Contains(err.Error(), "no space left on device"):
		return failure(err, "the engine at %s has no space left: make room on its disk: %s", host, shortened(err))
	}
	return failure(err, "%s: %v", what, err)
}

// isDenied reports whether the client could not open the engine's socket. The client drops the cause.
func isDenied(err error) bool {
	return client.IsErrConnectionFailed(err) && strings.Contains(err.Error(), "permission denied")
}

// isAbsent reports whether no engine answers at all.
func isAbsent(err error) bool {
	var dns *net.DNSError
	return client.IsErrConnectionFailed(err) || errors.As(err, &dns) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}

// isGone reports whether the error of a call says that the container is not there.
func isGone(err error) bool { return errdefs.IsNotFound(err) }

// errSlow is the cause of the end of a context that bounds the first answer of the engine.
var errSlow = errors.New("the engine does not answer")
