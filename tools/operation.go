// Package tools describes the tools that a runtime offers to the model, for hosts that choose
// among them or write their own: an [Operation] is one tool. Errors that the model can act on
// are answered in text. Any other error ends the run.
package tools

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
)

// Operation is one tool: the definition that the model sees, and the function that answers its
// calls. Hosts add operations by satchel.Tools.
type Operation struct {
	Name        string
	Description string
	Fields      []Field
	// Kind decides when calls are executed and which lists restrict them.
	Kind CallKind
	// ChangesWith reports whether a call of kind [Changes] changes what is loaded; nil means
	// every call does. Other calls are treated like those of kind [Reads].
	ChangesWith func(args Args) bool
	// Session names the argument with the id of an interactive command, in an operation of kind
	// [Talks]. The list of the skill that started the command judges the call.
	Session string
	// Request returns what lists need to know of a call, without the Tool. If the arguments
	// cannot be decoded, the call runs nothing. Without Request, only entries without a pattern
	// allow the operation.
	Request func(args Args) permission.Request
	// Needs names the operations without which this one is useless. Provides names the
	// operations that it replaces in the Needs of others.
	Needs, Provides []string
	// RunArguments converts the arguments of a call of kind [Runs] to those of skill_run, by
	// which lists judge the call. It is nil for an operation with its own Request.
	RunArguments func(args Args) (arguments string)
	// Prepare prepares the change of a call, so that a person can be asked about it before it is
	// made, even if lists allow it. If Prepare is nil or returns nil, Call makes the change. An
	// error ends the run.
	Prepare func(ctx context.Context, s *Scope, args Args) (*PreparedChange, error)
	// Refuse formats the answer to a call that is refused. code is "invalid" if the arguments
	// cannot be decoded, "denied", or "too_large" if the answer is too long. An operation with
	// Refuse is strict: it refuses unknown, misspelt and repeated fields. Without Refuse the
	// answer is plain text, and such fields are ignored with a warning.
	Refuse func(code, message string) string
	// Refused, if not nil, is called when a call is refused because its arguments cannot be
	// decoded. err is the reason.
	Refused func(ctx context.Context, s *Scope, args Args, err error)
	// Call answers a call. The arguments are decoded according to Fields.
	Call func(ctx context.Context, s *Scope, args Args) (string, error)

	// ShowsFile reports whether the answer to a call contains text of a skill's file, which
	// counts against the [Budget]. nil means no. hasWorkspace reports that commands run here.
	ShowsFile func(args Args, hasWorkspace bool) bool
}

// PreparedChange is a change that is ready before its call is allowed.
type PreparedChange struct {
	// Question is the question to a person, nil if no person has to be asked.
	Question *Question
	// Commit makes the change and answers the call, instead of the operation's Call. isApproved
	// reports that a person has allowed this question. It is false if no person was asked, for
	// example because an earlier approval for the session covers the call.
	Commit func(ctx context.Context, s *Scope, isApproved bool) (answer string, err error)
}

// Question is a question to a person about one call.
type Question struct {
	// Detail shows in full what the call would do.
	Detail string
	// Bound identifies what the person's answer applies to. Lasting identifies what an answer for
	// the session allows, and LastingText describes that.
	Bound, Lasting, LastingText string
	// NoApprover is the answer to the call if no person can be asked.
	NoApprover string
	// Denied, if not nil, is called when a person has denied the call, or when no person could be
	// asked. In the second case why is NoApprover.
	Denied func(ctx context.Context, why string)
}

// IsChange reports whether a call with these arguments changes what is loaded.
func (o *Operation) IsChange(args Args) bool {
	return o.Kind == Changes && (o.ChangesWith == nil || o.ChangesWith(args))
}

// StandsFor reports whether the operation has this name or provides it.
func (o *Operation) StandsFor(name string) bool {
	return o.Name == name || slices.Contains(o.Provides, name)
}

// Tool returns the definition that the model sees.
func (o *Operation) Tool() core.Tool {
	return core.Tool{Name: o.Name, Description: o.Description, Schema: schema(o.Fields)}
}

// CallKind classifies what the calls of an operation do. It decides when a call is executed.
type CallKind uint8

// The kinds. The zero CallKind is for a tool that uses nothing of Satchel's: its calls are
// executed as soon as they come, and lists of allowed tools decide on them.
const (
	// Reads shows what skills contain. No list restricts it. Its calls wait for unfinished
	// changes at earlier positions in the same response.
	Reads CallKind = iota + 1
	// Changes loads or unloads. No list restricts it. Its calls are numbered, take effect
	// in their order in the response, and their results carry content in the view.
	Changes
	// Runs executes a command once and answers its result. Its calls wait as those of
	// Reads do. In load mode Adaptive a call loads the skill of its argument "skill" again
	// if the load has ended and the text is still in view; see [Operation.Reloads].
	Runs
	// Talks starts a session command, as Runs does, or continues the one that the argument
	// Session names. All calls of this kind and of Edits in one response are executed one
	// after another, in their order.
	Talks
	// Edits changes skills themselves. No list restricts it, because it has roles of its
	// own. Its calls are executed in order, as those of Talks are.
	Edits
)

// IsUnrestricted reports whether no list of allowed tools restricts the operation.
func (o *Operation) IsUnrestricted() bool {
	return o.Kind == Reads || o.Kind == Changes || o.Kind == Edits
}

// Awaits reports whether a call waits for unfinished changes at earlier positions in the same
// response.
func (o *Operation) Awaits() bool { return o.Kind == Reads || o.StartsCommand() }

// IsOrdered reports whether the calls of this operation, and of all other ordered operations, are
// executed one after another in their order in the response.
func (o *Operation) IsOrdered() bool { return o.Kind == Talks || o.Kind == Edits }

// StartsCommand reports whether a call starts a command. Such an operation calls Scope.Begin just
// before the command starts, for run.Runner.Once.
func (o *Operation) StartsCommand() bool {
	return o.Kind == Runs || o.Kind == Talks && o.Session == ""
}

// Reloads reports whether a call runs the skill of its argument "skill", and reloads it in load
// mode Adaptive.
func (o *Operation) Reloads() bool { return o.StartsCommand() && o.RunArguments == nil }
