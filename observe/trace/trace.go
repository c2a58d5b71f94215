// Package trace records what skills do in an agent: each request to the model as a difference to
// the one before, loads, decisions, commands and what the provider counted. A trace is a file of
// JSON objects, one in each line; docs/traces.md describes them, and "satchel trace" shows them.
//
// A [Trace] never holds up a call of the model. A goroutine of its own counts tokens and writes.
// Lines that it cannot write in time are dropped and counted in the trace.
package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
)

// errOption is wrapped by errors about options and paths.
var errOption = errors.New("trace")

// Trace records what happens in runtimes. It implements satchel.Tracer, and is safe for concurrent
// use. Make one with [New] or [Open], and close it.
type Trace struct {
	queue    *queue
	recorder *recorder
	stop     context.CancelFunc // stops writes that block
	done     chan struct{}      // closed when the recorder has ended

	once sync.Once
	err  error // of Close
}

// TextPolicy says which texts a trace has.
type TextPolicy string

// The policies of [Texts].
const (
	// Whole keeps all texts.
	Whole TextPolicy = "whole"
	// Digests keeps no text of prompts, messages, arguments, commands, results and answers. Names of
	// skills and tools, numbers, verdicts and digests of messages stay.
	Digests TextPolicy = "digests"
	// None keeps no digests of messages either.
	None TextPolicy = "none"
)

// Option configures a [Trace].
type Option func(*config) error

type config struct {
	texts  TextPolicy
	redact func(string) string
	size   int64
	model  string
	// withoutCalls reports that only forks have calls.
	withoutCalls bool
}

// Texts sets which texts the trace has. The default is [Whole].
func Texts(p TextPolicy) Option {
	return func(c *config) error {
		switch p {
		case Whole, Digests, None:
			c.texts = p
			return nil
		}
		return fmt.Errorf("%w: texts %q: use %s, %s or %s", errOption, p, Whole, Digests, None)
	}
}

// Redact sets a function that replaces what a trace must not hold in a text. It gets each text
// before the digest of the text is taken. It is called by one goroutine at a time. If it panics,
// the line is dropped.
func Redact(f func(text string) string) Option {
	return func(c *config) error {
		if f == nil {
			return fmt.Errorf("%w: Redact: the function is nil", errOption)
		}
		c.redact = f
		return nil
	}
}

// Size sets after how many bytes [Open] begins a new file. The default is 64 MiB.
func Size(bytes int64) Option {
	return func(c *config) error {
		if bytes < minSize {
			return fmt.Errorf("%w: size %d: use at least %d", errOption, bytes, minSize)
		}
		c.size = bytes
		return nil
	}
}

// Model sets the model of calls that do not name theirs: clients of frameworks do not say which model
// they call.
func Model(name string) Option {
	return func(c *config) error {
		c.model = name
		return nil
	}
}

// WithoutCalls says that only forks call a model, because something else makes the tool calls. Lines
// about skills then do not wait for a call.
func WithoutCalls() Option {
	return func(c *config) error {
		c.withoutCalls = true
		return nil
	}
}

func newConfig(opts []Option) (config, error) {
	c := config{texts: Whole, size: defaultSize}
	for _, o := range opts {
		if err := o(&c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// New returns a trace that writes to w, one line with each Write. w may block. [Trace.Close] does not
// close it. [Size] has no effect.
func New(w io.Writer, opts ...Option) (*Trace, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if w == nil {
		return nil, fmt.Errorf("%w: the writer is nil", errOption)
	}
	return start(c, &stream{w: w}), nil
}

// Open returns a trace that appends to a file, which only its owner can read. The file may be a
// named pipe or a device. If path ends in a separator or is a directory, the trace has a file of its
// own in that directory.
//
// A full file becomes PATH.1, the next one PATH.2: PATH is always the newest. Each of them can be read
// without the others. A file has one writer: if another process writes it, Open returns an error.
func Open(path string, opts ...Option) (*Trace, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	out, err := openOutput(path, c.size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errOption, err)
	}
	return start(c, out), nil
}

func start(c config, out output) *Trace {
	ctx, stop := context.WithCancel(context.Background())
	q := newQueue()
	t := &Trace{queue: q, recorder: newRecorder(ctx, c, q, out), stop: stop, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.recorder.run()
	}()
	return t
}

// Event implements satchel.Tracer.
func (t *Trace) Event(_ context.Context, e core.Event) {
	if isTraced(e.Kind) {
		t.queue.addEvent(&e)
	}
}

// Request implements satchel.Tracer.
func (t *Trace) Request(_ context.Context, r core.ModelRequest) { t.queue.addRequest(&r) }

// Answer implements satchel.Tracer.
func (t *Trace) Answer(_ context.Context, a core.ModelAnswer) { t.queue.addAnswer(&a) }

// Dropped returns how many lines could not be written so far.
func (t *Trace) Dropped() int {
	lines, _ := t.queue.lost()
	return lines
}

// Close writes what is queued and ends the trace. It waits two seconds at most. What is not written
// then is dropped. If lines were dropped, the error says how many, and why. Later calls of the
// trace's methods have no effect.
func (t *Trace) Close() error {
	t.once.Do(func() {
		t.queue.close(time.Now().Add(drainTime))
		stopping := time.AfterFunc(stopTime, func() {
			t.stop()
			t.recorder.out.interrupt()
		})
		defer stopping.Stop()
		timeout := time.NewTimer(closeTime)
		defer timeout.Stop()
		select {
		case <-t.done:
			t.stop()
		case <-timeout.C:
			t.queue.abandon(errBlocked)
		}
		if lines, reason := t.queue.lost(); lines > 0 {
			t.err = fmt.Errorf("%d lines dropped: %w", lines, reason)
		}
	})
	return t.err
}
