package chat

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"sync"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/observe/trace"
)

// TraceFlags are the flags about a trace.
type TraceFlags struct {
	Trace       *string  `placeholder:"FILE|DIR/" help:"Append a trace to FILE, or to a file of this process in DIR/: what the model was sent, what was loaded, decided and run, and what it cost. satchel trace reads it. It holds all that is said."`
	TraceTexts  string   `enum:"whole,digests,none" default:"whole" placeholder:"POLICY" help:"Which texts it has: ${enum} (default ${default}). Names of skills, numbers and decisions stay."`
	TraceRedact []string `sep:"none" placeholder:"REGEXP" help:"Text that becomes [redacted] in it; may be repeated."`
	TraceSize   int64    `default:"67108864" placeholder:"BYTES" help:"A full FILE becomes FILE.1, the next one FILE.2; the default is 64 MiB."`
}

// redacted stands in a trace for what --trace-redact matches.
const redacted = "[redacted]"

// check refuses values that cannot work, and flags that have no effect.
func (f *TraceFlags) check() error {
	if f.TraceSize < 0 || f.TraceSize == 0 && f.Trace != nil {
		return fmt.Errorf("%w: --trace-size %d: want at least 1", cli.ErrUsage, f.TraceSize)
	}
	if _, err := f.patterns(); err != nil {
		return err
	}
	if f.Trace == nil && (len(f.TraceRedact) > 0 || f.TraceTexts != "" && f.TraceTexts != string(trace.Whole)) {
		return fmt.Errorf("%w: --trace-texts and --trace-redact need --trace", cli.ErrUsage)
	}
	return nil
}

// patterns returns the expressions of --trace-redact.
func (f *TraceFlags) patterns() ([]*regexp.Regexp, error) {
	var all []*regexp.Regexp
	for _, text := range f.TraceRedact {
		if text == "" { // as of a variable without a value
			return nil, fmt.Errorf("%w: --trace-redact is empty: want an expression for what must not stand in the trace", cli.ErrUsage)
		}
		p, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("%w: --trace-redact: %w", cli.ErrUsage, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// open opens the trace, which writes why lines were dropped to errs. It returns nil without --trace.
func (f *TraceFlags) open(errs io.Writer, more ...trace.Option) (*tracing, error) {
	if f.Trace == nil {
		return nil, nil
	}
	patterns, err := f.patterns()
	if err != nil {
		return nil, err
	}
	opts := append(more, trace.Texts(trace.TextPolicy(f.TraceTexts)), trace.Size(f.TraceSize))
	if len(patterns) > 0 {
		opts = append(opts, trace.Redact(func(text string) string { return redact(text, patterns) }))
	}
	t, err := trace.Open(*f.Trace, opts...)
	if err != nil {
		return nil, fmt.Errorf("%w: --%w", cli.ErrStart, err)
	}
	return &tracing{trace: t, errs: errs}, nil
}

// redact replaces what the patterns match. A match without text stays.
func redact(text string, patterns []*regexp.Regexp) string {
	for _, p := range patterns {
		text = p.ReplaceAllStringFunc(text, func(match string) string {
			if match == "" {
				return ""
			}
			return redacted
		})
	}
	return text
}

// tracing is the trace of a command. A nil value traces nothing.
type tracing struct {
	trace *trace.Trace
	errs  io.Writer
	once  sync.Once
}

// options returns the option for a runtime, or none.
func (t *tracing) options() []satchel.Option {
	if t == nil {
		return nil
	}
	return []satchel.Option{satchel.WithTrace(t.trace)}
}

// close ends the trace. It does not fail, because what was asked has been answered.
func (t *tracing) close() {
	if t == nil {
		return
	}
	t.once.Do(func() {
		if err := t.trace.Close(); err != nil {
			fmt.Fprintf(t.errs, "trace: %s\n", cli.OneLine(err.Error()))
		}
	})
}

// closeOn ends the trace when one of the signals asks the process to end, which it then does.
// isIgnored, if not nil, reports whether the signal has another meaning now. stop removes the handler.
func (t *tracing) closeOn(isIgnored func() bool, signals ...os.Signal) (stop func()) {
	if t == nil {
		return func() {}
	}
	arrived, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(arrived, signals...)
	go func() {
		for {
			select {
			case <-done:
				return
			case s := <-arrived:
				if isIgnored != nil && isIgnored() {
					continue
				}
				t.close()
				signal.Reset(s)
				if self, err := os.FindProcess(os.Getpid()); err != nil || self.Signal(s) != nil {
					os.Exit(cli.ExitFailed) // no system of Unix
				}
			}
		}
	}()
	return func() {
		signal.Stop(arrived)
		close(done)
	}
}
