package satchel_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
)

// exampleSkills is a file system with skills, in place of a directory for
// satchel.WithSkillDirs.
var exampleSkills = fstest.MapFS{
	"pdf/SKILL.md":   {Data: []byte("---\nname: pdf\ndescription: Fills in PDF forms.\n---\nRead forms.md first.\n")},
	"pdf/forms.md":   {Data: []byte("Fields first.\n")},
	"xlsx/SKILL.md":  {Data: []byte("---\nname: xlsx\ndescription: Reads sheets.\n---\nOpen the sheet.\n")},
	"xlsx/charts.md": {Data: []byte("Charts.\n")},
}

func ExampleNew() {
	runtime, err := satchel.New(
		satchel.WithSkillFS("builtin", exampleSkills),
		satchel.WithLoading(satchel.Loading{Mode: loadmode.Session, Max: 4}),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer runtime.Close()
	for _, tool := range runtime.Tools() {
		fmt.Println(tool.Name)
	}
	// Output:
	// skill_load
	// skill_select_docs
	// skill_list_docs
	// skill_unload
	// skill_read
	// skill_run
	// skill_exec
	// skill_write_stdin
	// skill_poll_session
	// skill_kill_session
}

// For each model call an adapter prepares the request, reports the response to the runtime,
// executes the calls, and keeps the host's own history.
func ExampleRuntime_Prepare() {
	runtime, err := satchel.New(satchel.WithSkillFS("builtin", exampleSkills), satchel.WithOverview(satchel.Overview{NoGuidance: true}))
	if err != nil {
		log.Fatal(err)
	}
	defer runtime.Close()
	ctx := context.Background()
	key := core.SessionKey{Session: "chat-1", Agent: "main"}
	history := []core.Message{{Role: core.User, Text: "Fill in this form."}}

	// The model receives the view and answers with a call.
	if _, err := runtime.Prepare(ctx, core.Request{Key: key, Messages: history}); err != nil {
		log.Fatal(err)
	}
	call := core.ToolCall{ID: "call_0", Name: "skill_load", Arguments: `{"skill":"pdf","docs":["forms.md"]}`}
	if err := runtime.Hooks().Observe(ctx, key, []core.ToolCall{call}); err != nil {
		log.Fatal(err)
	}
	answer, err := runtime.CallTool(ctx, key, call)
	if err != nil {
		log.Fatal(err)
	}
	history = append(history,
		core.Message{Role: core.Assistant, Calls: []core.ToolCall{call}},
		core.Message{Role: core.ToolResult, CallID: call.ID, Text: answer})

	view, err := runtime.Prepare(ctx, core.Request{Key: key, Messages: history})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range view.Messages {
		fmt.Printf("%s:\n%s\n", m.Role, m.Text)
	}
	// Output:
	// system:
	// <available_skills>
	// <name>pdf</name>Fills in PDF forms.
	// <name>xlsx</name>Reads sheets.
	// </available_skills>
	// user:
	// Fill in this form.
	// assistant:
	//
	// tool:
	// loaded: pdf
	// [skill#1 +pdf@5b70d31a1c06(forms.md)]
	//
	// <skill name="pdf">
	// Read forms.md first.
	// </skill>
	// <skill_doc skill="pdf" path="forms.md">
	// Fields first.
	// </skill_doc>
}

func ExampleWithSession() {
	ctx := satchel.WithSession(context.Background(), "chat-1")
	fmt.Println(satchel.SessionID(ctx))
	fmt.Println(satchel.SessionID(context.Background()))
	// Output:
	// chat-1 true
	//  false
}

// Loads end when a turn begins. A host that knows its turns marks them; otherwise the runtime
// detects them from the messages. A failed turn that is repeated from the user's message begins
// as it did before.
func ExampleBeginTurn() {
	runtime, err := satchel.New(satchel.WithSkillFS("builtin", exampleSkills))
	if err != nil {
		log.Fatal(err)
	}
	defer runtime.Close()
	key := core.SessionKey{Session: "chat-1"}
	request := core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "go on"}}}

	for _, token := range []string{"request-1", "request-1", "request-2"} {
		ctx := satchel.BeginTurn(satchel.WithSession(context.Background(), "chat-1"), token)
		if _, err := runtime.Prepare(ctx, request); err != nil {
			log.Fatal(err)
		}
		loaded, err := runtime.Loaded(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(token, "begins with", len(loaded), "loaded")
		if _, err := runtime.CallTool(ctx, key, core.ToolCall{Name: "skill_load", Arguments: "pdf"}); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// request-1 begins with 0 loaded
	// request-1 begins with 0 loaded
	// request-2 begins with 0 loaded
}

// A host that knows what a message needs loads it before the model is called.
func ExampleWithLoads() {
	runtime, err := satchel.New(satchel.WithSkillFS("builtin", exampleSkills))
	if err != nil {
		log.Fatal(err)
	}
	defer runtime.Close()
	ctx := satchel.WithLoads(context.Background(), satchel.Load{Skill: "xlsx"})
	view, err := runtime.Prepare(ctx, core.Request{
		Key:      core.SessionKey{Session: "chat-1"},
		Messages: []core.Message{{Role: core.User, Text: "Sum up column B."}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(view.Messages[1].Text)

	ctx = satchel.WithLoads(context.Background(), satchel.Load{Skill: "xslx"})
	_, err = runtime.Prepare(ctx, core.Request{Key: core.SessionKey{Session: "chat-2"}})
	fmt.Println(err)
	// Output:
	// Sum up column B.
	//
	// <skill name="xlsx">
	// Open the sheet.
	// </skill>
	// declared loads cannot be made: unknown skill "xslx"
}

func ExampleRuntime_Loaded() {
	runtime, err := satchel.New(satchel.WithSkillFS("builtin", exampleSkills))
	if err != nil {
		log.Fatal(err)
	}
	defer runtime.Close()
	ctx := satchel.WithSession(context.Background(), "chat-1")
	for agent, arguments := range map[string]string{"planner": `{"skills":["xlsx","pdf"]}`, "writer": `{"skill":"pdf","docs":["forms.md"]}`} {
		call := core.ToolCall{Name: "skill_load", Arguments: arguments}
		if _, err := runtime.CallTool(ctx, core.SessionKey{Session: "chat-1", Agent: agent}, call); err != nil {
			log.Fatal(err)
		}
	}
	loaded, err := runtime.Loaded(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range loaded {
		fmt.Println(l.Agent, l.Skill, l.Docs)
	}
	// Output:
	// planner xlsx []
	// planner pdf []
	// writer pdf [forms.md]
}

func ExampleRuntime_EndSession() {
	runtime, err := satchel.New(satchel.WithSkillFS("builtin", exampleSkills))
	if err != nil {
		log.Fatal(err)
	}
	defer runtime.Close()
	ctx := satchel.WithSession(context.Background(), "chat-1")
	call := core.ToolCall{Name: "skill_load", Arguments: "pdf"}
	answer, err := runtime.CallTool(ctx, core.SessionKey{Session: "chat-1"}, call)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Split(answer, "\n")[0])
	if err := runtime.EndSession(ctx, "chat-1"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(runtime.Loaded(ctx))
	// Output:
	// loaded: pdf
	// [] <nil>
}
