package satcheltest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/satchel-go/satchel/core"
)

// Turn says how a planned model answers one user message: it takes the steps that are not done
// yet, and then answers.
type Turn struct {
	// Steps are taken in order, one model call each.
	Steps []Step
	// Needs are texts that the request must contain when the model answers.
	Needs []string
	// Answer is the final message of the turn.
	Answer string
}

// Step is one assistant message with tool calls.
type Step struct {
	// Unless skips the step if a message of the request contains it.
	Unless string
	// Needs are texts that the request must contain when the model takes the step.
	Needs []string
	// Text is the text of the message in addition to the calls.
	Text string
	// Calls are the calls; at least one.
	Calls []core.ToolCall
}

// Do returns a step that calls one tool; see [ToolCall] for the arguments.
func Do(tool string, args any) Step { return Step{Calls: []core.ToolCall{ToolCall(tool, args)}} }

// Load returns a step that loads a skill with the given docs, unless the request already
// contains the skill's text.
func Load(skill string, docs ...string) Step {
	args := map[string]any{"skill": skill}
	if len(docs) > 0 {
		args["docs"] = docs
	}
	return Step{Unless: SkillOpen(skill), Calls: []core.ToolCall{ToolCall("skill_load", args)}}
}

// SkillOpen returns the tag that begins the text of a loaded skill in a request.
func SkillOpen(skill string) string { return fmt.Sprintf("<skill name=%q>", skill) }

// Plan returns a script that follows the turns. Like a model it remembers nothing: it finds out
// from each request which turn it is in, and which steps are done. The turn is the number of
// user messages in the request. A step is done if an assistant message of the turn called the
// step's tools in the same order.
//
// If a request does not fit the plan, the script answers with HTTP status 422 and a message
// that says what is missing. So a test fails if the client loses content.
func Plan(turns ...Turn) Script {
	return func(r Request) Response {
		n := r.Turn()
		if n < 1 || n > len(turns) {
			return Response{Status: http.StatusUnprocessableEntity, Err: fmt.Sprintf("the plan has %d turns and the request has %d user messages", len(turns), n)}
		}
		turn := turns[n-1]
		step, isDue := turn.nextStep(r)
		if !isDue {
			if text := firstMissing(r, turn.Needs); text != "" {
				return Response{Status: http.StatusUnprocessableEntity, Err: fmt.Sprintf("answer of turn %d: the request lacks %q", n, text)}
			}
			return Response{Text: turn.Answer}
		}
		if text := firstMissing(r, step.Needs); text != "" {
			return Response{Status: http.StatusUnprocessableEntity, Err: fmt.Sprintf("call of %s in turn %d: the request lacks %q", step.toolNames(), n, text)}
		}
		return Response{Text: step.Text, Calls: step.Calls}
	}
}

// nextStep returns the first step that is not done and must not be skipped.
func (t Turn) nextStep(r Request) (Step, bool) {
	done := doneInTurn(r.Messages)
	for _, step := range t.Steps {
		if len(done) > 0 && done[0] == step.toolNames() {
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

// doneInTurn returns the tool names of the assistant messages after the last user message, one
// text for each message.
func doneInTurn(messages []Message) []string {
	var done []string
	for _, m := range messages {
		switch {
		case m.Role == "user":
			done = nil
		case m.Role == "assistant" && len(m.Calls) > 0:
			done = append(done, Step{Calls: m.Calls}.toolNames())
		}
	}
	return done
}

// toolNames returns the names of a step's tools, in order.
func (s Step) toolNames() string {
	names := make([]string, len(s.Calls))
	for i, c := range s.Calls {
		names[i] = c.Name
	}
	return strings.Join(names, " ")
}

// firstMissing returns the first of needs that no message contains, or "".
func firstMissing(r Request, needs []string) string {
	for _, need := range needs {
		if !r.Contains(need) {
			return need
		}
	}
	return ""
}
