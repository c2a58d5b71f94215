// Package skilltools has the tools that read and load skills, in the words of the profiles and
// in those of the runtime spec. It also chooses which tools are offered, and holds what
// answers of a load say.
package skilltools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
)

// Set is the set of operations that an agent may call. It is immutable.
type Set struct {
	operations []tools.Operation
	tools      []core.Tool
	index      map[string]int
	shows      []string // names of the operations with ShowsFile
}

// NewSet returns a set in the given order. The error wraps tools.ErrSet if a name occurs twice,
// or if an operation is incomplete.
func NewSet(operations ...tools.Operation) (*Set, error) {
	s := &Set{operations: slices.Clone(operations), index: make(map[string]int, len(operations))}
	for i := range s.operations {
		o := &s.operations[i]
		if _, twice := s.index[o.Name]; twice || o.Name == "" || o.Call == nil || len(o.Fields) == 0 {
			return nil, fmt.Errorf("%w: %q is there twice or is not complete", tools.ErrSet, o.Name)
		}
		s.index[o.Name] = i
		if o.ShowsFile != nil {
			s.shows = append(s.shows, o.Name)
		}
		s.tools = append(s.tools, o.Tool())
	}
	return s, nil
}

// Tools returns the definitions in the set's order. Callers must not change the slice.
func (s *Set) Tools() []core.Tool { return s.tools }

// Operation returns the operation of that name, or nil.
func (s *Set) Operation(name string) *tools.Operation {
	if i, ok := s.index[name]; ok {
		return &s.operations[i]
	}
	return nil
}

// Has reports whether the set has an operation of that name.
func (s *Set) Has(name string) bool { return s.Operation(name) != nil }

// Providing returns the operation with this name, or else the operation that provides the same,
// or "".
func (s *Set) Providing(name string) string {
	if s.Has(name) {
		return name
	}
	for i := range s.operations {
		if s.operations[i].StandsFor(name) {
			return s.operations[i].Name
		}
	}
	return ""
}

// Delivers returns the names of the operations whose results show content.
func (s *Set) Delivers() map[string]bool {
	names := map[string]bool{}
	for i := range s.operations {
		if s.operations[i].Kind == tools.Changes {
			names[s.operations[i].Name] = true
		}
	}
	return names
}

// ShowsFiles reports whether calls of a tool may show files of skills, which count against the
// budget.
func (s *Set) ShowsFiles(tool string) bool {
	return slices.Contains(s.shows, tool)
}

// ShowsFile reports whether the answer to this call shows a file of a skill. runs reports that
// there is a workspace.
func (s *Set) ShowsFile(call *core.ToolCall, runs bool) bool {
	o := s.Operation(call.Name)
	return o != nil && o.ShowsFile != nil && o.ShowsFile(o.Decode(call.Arguments), runs)
}

// Answer calls an operation with decoded arguments, and returns the answer. Errors for the model,
// such as malformed arguments, become the answer.
func Answer(ctx context.Context, o *tools.Operation, s *Scope, args tools.Args) (string, error) {
	return answer(ctx, o, s, args, func(ctx context.Context, s *Scope) (string, error) { return o.Call(ctx, s.Public(), args) })
}

// AnswerPrepared answers a call by committing its prepared change; see [tools.PreparedChange].
func AnswerPrepared(ctx context.Context, o *tools.Operation, s *Scope, args tools.Args, p *tools.PreparedChange, isApproved bool) (string, error) {
	return answer(ctx, o, s, args, func(ctx context.Context, s *Scope) (string, error) { return p.Commit(ctx, s.Public(), isApproved) })
}

// answer runs call, and adds warnings about the arguments to its answer.
func answer(ctx context.Context, o *tools.Operation, s *Scope, args tools.Args, call func(context.Context, *Scope) (string, error)) (string, error) {
	if err := cmp.Or(args.Err(), args.Missing()); err != nil {
		if o.Refused != nil {
			o.Refused(ctx, s.Public(), args, err)
		}
		return refuse(o, err.Error()), nil
	}
	var r reply
	for _, w := range args.Warnings() {
		r.add("%s", w)
	}
	inner, saving := *s, savingState{State: s.State, operation: o, limits: s.Limits, reply: &r}
	inner.State = &saving
	text, err := call(ctx, &inner)
	var refused tools.ModelError
	switch {
	case errors.As(err, &refused):
		s.reportNotFound(ctx, err)
		return boundOperation(o, s.Limits, r.join(refuse(o, strings.ReplaceAll(string(refused), "skill_load", s.LoadTool())))), nil
	case err != nil || saving.isSaved:
		return text, err
	}
	return boundOperation(o, s.Limits, r.join(text)), nil
}

// savingState is the State of a call whose Update saves the answer with the warnings about its
// arguments, within the limits.
type savingState struct {
	State
	operation *tools.Operation
	limits    tools.Limits
	reply     *reply
	isSaved   bool
}

func (s *savingState) Update(ctx context.Context, change Change) (string, error) {
	return s.State.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		next, text, err := change(rec)
		if err == nil {
			err = checkReceipt(s.limits, text)
		}
		if text == "" { // the change is saved without an answer
			return next, "", err
		}
		s.isSaved = true
		return next, boundOperation(s.operation, s.limits, s.reply.join(text)), err
	})
}

// refuse formats the answer to a call that its arguments or the record do not allow.
func refuse(o *tools.Operation, message string) string {
	if o.Refuse != nil {
		return o.Refuse("invalid", message)
	}
	return "error: " + printable.Lines(message)
}

// IsRefusal reports whether an answer says that the call was denied or not possible. o is nil if
// the tool does not exist.
func IsRefusal(o *tools.Operation, answer string) bool {
	if o != nil && o.Refuse != nil && strings.HasPrefix(answer, `{"error":`) {
		return true
	}
	return strings.HasPrefix(answer, "error: ") || strings.HasPrefix(answer, "denied: ")
}

// boundOperation cuts the answer of an operation to the limits.
func boundOperation(o *tools.Operation, l tools.Limits, text string) string {
	if limit := l.Answer; o.Refuse != nil && len(text) > limit {
		return o.Refuse("too_large", fmt.Sprintf("the answer has %d bytes and at most %d are allowed: ask for less", len(text), limit))
	}
	return boundAnswer(l, text)
}

// reply collects lines that follow the answer itself. They come before a receipt, because a
// receipt must be the last line.
type reply struct{ lines []string }

func (r *reply) add(format string, args ...any) {
	r.lines = append(r.lines, printable.Lines(fmt.Sprintf(format, args...)))
}

// join adds the lines to an answer.
func (r *reply) join(text string) string {
	if len(r.lines) == 0 {
		return text
	}
	extra := strings.Join(r.lines, "\n")
	if isJSON(text) {
		return addWarnings(text, r.lines)
	}
	text, receipt := cutReceipt(text)
	return text + "\n" + extra + receipt
}

// cutReceipt splits off the receipt at the end of an answer. The receipt begins with its line
// break.
func cutReceipt(text string) (rest, receipt string) {
	if i := strings.LastIndex(text, "\n[skill#"); i >= 0 && !strings.Contains(text[i+1:], "\n") {
		return text[:i], text[i:]
	}
	return text, ""
}

// addWarnings adds warnings to a JSON object: to its field "warnings", or as a new last field. It
// returns an array unchanged.
func addWarnings(text string, lines []string) string {
	var object struct {
		Warnings []printable.Text `json:"warnings"`
	}
	if json.Unmarshal([]byte(text), &object) != nil {
		return text
	}
	old, err := plainjson.Encode(object.Warnings)
	if err != nil {
		return text
	}
	all, err := plainjson.Encode(append(object.Warnings, printable.Texts(lines)...))
	if err != nil {
		return text
	}
	if had := `"warnings":` + old; object.Warnings != nil && strings.Contains(text, had) {
		return strings.Replace(text, had, `"warnings":`+all, 1)
	}
	if at := strings.LastIndex(text, `,"receipt":"`); at >= 0 && json.Valid([]byte(text[at+len(`,"receipt":`):len(text)-1])) {
		return text[:at] + `,"warnings":` + all + text[at:] // a receipt is the last field
	}
	comma := ","
	if strings.TrimSpace(text[1:len(text)-1]) == "" {
		comma = ""
	}
	return text[:len(text)-1] + comma + `"warnings":` + all + "}"
}
