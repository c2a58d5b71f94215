package satcheltest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/satchel-go/satchel/core"
)

// Turn is how a planned model reacts to one user message: it takes the steps that are still
// due, and then answers.
type Turn struct {
	// Steps are taken in order, one model call each.
	Steps []Step
	// Needs are texts that must all be in the request when the answer is due.
	Needs []string
	// Answer ends the turn.
	Answer string
}

// Step is one assistant message with tool calls.
type Step struct {
	// Unless skips the step when a message of the request contains it.
	Unless string
	// Needs are texts that must all be in the request when the step is due.
	Needs []string
	// Text is the text of the message beside the calls.
	Text string
	// Calls are the calls; at least one.
	Calls []core.ToolCall
}

// Do returns a step that calls one tool; see [To] for the arguments.
func Do(tool string, args any) Step { return Step{Calls: []core.ToolCall{To(tool, args)}} }

// Load returns a step that loads a skill with the docs named, unless the skill's text is in the
// request already.
func Load(skill string, docs ...string) Step {
	args := map[string]any{"skill": skill}
	if len(docs) > 0 {
		args["docs"] = docs
	}
	return Step{Unless: SkillOpen(skill), Calls: []core.ToolCall{To("skill_load", args)}}
}

// SkillOpen returns the tag with which a loaded skill's text begins in a request.
func SkillOpen(skill string) string { return fmt.Sprintf("<skill name=%q>", skill) }

// Plan returns a script that adapts to requests. Like a model it remembers nothing. It learns
// from the request alone which turn it is in, what is done in it, and what is left to do. The
// turn is the number of user messages in the request. A step is done when the turn has an
// assistant message that called the step's tools in the same order.
//
// A request that does not fit the plan is answered with HTTP status 422 and a message that
// says what is missing. So a client that loses content cannot go on.
func Plan(turns ...Turn) Script {
	return func(r Request) Response {
		n := r.Turn()
		if n < 1 || n > len(turns) {
			return Response{Status: http.StatusUnprocessableEntity, Err: fmt.Sprintf("the plan has %d turns and the request has %d user messages", len(turns), n)}
		}
		turn := turns[n-1]
		step, due := turn.next(r)
		if !due {
			if lack := missing(r, turn.Needs); lack != "" {
				return Response{Status: http.StatusUnprocessableEntity, Err: fmt.Sprintf("answer of turn %d: the request lacks %q", n, lack)}
			}
			return Response{Text: turn.Answer}
		}
		if lack := missing(r, step.Needs); lack != "" {
			return Response{Status: http.StatusUnprocessableEntity, Err: fmt.Sprintf("call of %s in turn %d: the request lacks %q", step.tools(), n, lack)}
		}
		return Response{Text: step.Text, Calls: step.Calls}
	}
}

// next is the first step that is neither done nor unnecessary.
func (t Turn) next(r Request) (Step, bool) {
	done := doneInTurn(r.Messages)
	for _, step := range t.Steps {
		if len(done) > 0 && done[0] == step.tools() {
			done = done[1:]
			continue
		}
		if step.Unless != "" && r.Contains(step.Unless) {
			continue
		}
		return step, true
	}
	return Step{}, false
}

// doneInTurn lists the calls of the assistant messages after the last user
// message, one text for each message.
func doneInTurn(messages []Message) []string {
	var done []string
	for _, m := range messages {
		switch {
		case m.Role == "user":
			done = nil
		case m.Role == "assistant" && len(m.Calls) > 0:
			done = append(done, Step{Calls: m.Calls}.tools())
		}
	}
	return done
}

// tools are the names of a step's tools, in order.
func (s Step) tools() string {
	names := make([]string, len(s.Calls))
	for i, c := range s.Calls {
		names[i] = c.Name
	}
	return strings.Join(names, " ")
}

// missing is the first of needs that no message contains.
func missing(r Request, needs []string) string {
	for _, need := range needs {
		if !r.Contains(need) {
			return need
		}
	}
	return ""
}
