package steps_test

import (
	"fmt"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

func ExampleRender() {
	rec := &state.Record{TurnState: state.TurnState{Turn: 1}}
	rec.Activate("pdf", session.Digest("# PDF"))
	rec.Deliver(state.Delivery{Call: 1, Turn: 1, Skill: "pdf", Digest: session.Digest("# PDF"), Body: true})
	content, err := state.NewContent(rec, func(string) (string, error) { return "# PDF", nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	request := []core.Message{
		{Role: core.User, Text: "Read the form."},
		{Role: core.Assistant, Calls: []core.ToolCall{{Name: "skill_load", Arguments: "pdf"}}, Origin: 1},
		{Role: core.ToolResult, Text: "loaded: pdf\n[skill#1 +pdf]", Origin: 2},
	}
	view, _ := steps.Render(steps.Chain(processors.InToolResult), request, steps.State{
		Record: rec, Content: content, Delivers: map[string]bool{"skill_load": true},
	})
	fmt.Println(view[2].Text)
	// Output:
	// loaded: pdf
	// [skill#1 +pdf]
	//
	// <skill name="pdf">
	// # PDF
	// </skill>
}

func Example_content() {
	rec := &state.Record{TurnState: state.TurnState{Turn: 1}}
	rec.Deliver(state.Delivery{Call: 1, Turn: 1, Skill: "pdf", Digest: session.Digest("# PDF"), Body: true})
	pins := map[string]string{session.Digest("# PDF"): "# PDF"}
	_, err := state.NewContent(rec, func(digest string) (string, error) { return pins[digest], nil })
	fmt.Println(err)
	// Output: <nil>
}

func ExamplePrefixGuard() {
	var guard steps.PrefixGuard
	first := []core.Message{{Role: core.System, Text: "You read forms."}, {Role: core.User, Text: "Read this one.", Origin: 1}}
	guard.Check(first, nil)
	edited := []core.Message{{Role: core.System, Text: "You fill in forms."}, first[1]}
	broken, ok := guard.Check(edited, nil)
	fmt.Println(ok, broken.Block(), broken.Cause)
	// Output: true message 0 (system) host
}
