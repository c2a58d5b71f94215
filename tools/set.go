package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// ErrSet reports a set of tools that cannot work.
var ErrSet = errors.New("tools cannot work together")

// Set is the operations that an agent is offered. It does not change once
// built.
type Set struct {
	operations []Operation
	tools      []core.Tool
	index      map[string]int
}

// NewSet builds a set in the given order. The error wraps ErrSet: a name twice,
// or an operation without the ones that it builds on.
func NewSet(operations ...Operation) (*Set, error) {
	s := &Set{operations: slices.Clone(operations), index: make(map[string]int, len(operations))}
	for i := range s.operations {
		o := &s.operations[i]
		if _, twice := s.index[o.Name]; twice || o.Name == "" || o.Call == nil || len(o.Fields) == 0 {
			return nil, fmt.Errorf("%w: %q is there twice or is not complete", ErrSet, o.Name)
		}
		s.index[o.Name] = i
		s.tools = append(s.tools, o.Tool())
	}
	return s, nil
}

// Tools returns the definitions in the set's order. The caller must not change
// the slice.
func (s *Set) Tools() []core.Tool { return s.tools }

// Operation returns the operation of that name, or nil.
func (s *Set) Operation(name string) *Operation {
	if i, ok := s.index[name]; ok {
		return &s.operations[i]
	}
	return nil
}

// Has reports whether the set has an operation of that name.
func (s *Set) Has(name string) bool { return s.Operation(name) != nil }

// Delivers returns the names of the operations whose results carry content.
func (s *Set) Delivers() map[string]bool {
	names := map[string]bool{}
	for i := range s.operations {
		if s.operations[i].Delivers {
			names[s.operations[i].Name] = true
		}
	}
	return names
}

// Answer decodes the raw arguments and answers the call. Whatever the model can
// act on, such as arguments that cannot be read, is answered in text.
func (o *Operation) Answer(ctx context.Context, s *Scope, raw string) (string, error) {
	args, err := decode(raw, o.Fields)
	if err != nil {
		return "error: " + err.Error(), nil
	}
	for _, f := range o.Fields {
		if _, given := args.counts[f.Name]; f.Required && !given && len(args.texts[f.Name]) == 0 {
			return fmt.Sprintf("error: %q is missing; send an object such as %s", f.Name, example([]Field{f})), nil
		}
	}
	var r reply
	for _, w := range args.Warnings {
		r.after("%s", w)
	}
	inner, saved := *s, false
	inner.Update = func(ctx context.Context, change Change) (string, error) {
		saved = true // with the warnings in the saved answer
		return s.Update(ctx, func(rec *session.Record) (*session.Record, string, error) {
			next, text, err := change(rec)
			return next, r.join(text), err
		})
	}
	text, err := o.Call(ctx, &inner, args)
	var told tell
	switch {
	case errors.As(err, &told):
		return r.join("error: " + string(told)), nil
	case err != nil || saved:
		return text, err
	}
	return r.join(text), nil
}

// tell is an error that the model can act on: it becomes the answer.
type tell string

func (t tell) Error() string { return string(t) }

func tellf(format string, args ...any) error { return tell(fmt.Sprintf(format, args...)) }

// reply collects what is said besides the answer itself. It goes before the
// last line where that is a receipt, because a receipt ends its text.
type reply struct{ lines []string }

func (r *reply) after(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

func (r *reply) join(text string) string {
	if len(r.lines) == 0 {
		return text
	}
	extra := strings.Join(r.lines, "\n")
	if i := strings.LastIndex(text, "\n[skill#"); i >= 0 && !strings.Contains(text[i+1:], "\n") {
		return text[:i] + "\n" + extra + text[i:]
	}
	return text + "\n" + extra
}
