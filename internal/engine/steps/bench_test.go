package steps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/processors"
)

// longTurn is a request of 60 messages in which three skills of 8 KB are
// loaded.
func longTurn(tb testing.TB) ([]core.Message, State) {
	tb.Helper()
	rec := &state.Record{TurnState: state.TurnState{Turn: 1}}
	body := strings.Repeat("A line of instructions for the model, as they are.\n", 160)
	messages := []core.Message{{Role: core.System, Text: "You help."}, {Role: core.User, Text: "Read the form."}}
	for i := 0; len(messages) < 60; i++ {
		call := core.ToolCall{ID: fmt.Sprint("c", i), Name: "search"}
		answer := strings.Repeat("found ", 200)
		if i%9 == 0 && len(rec.Active) < 3 {
			skill := fmt.Sprint("skill-", i)
			call.Name = "skill_load"
			rec.Activate(skill, "d")
			rec.Deliver(state.Delivery{Call: i + 1, Skill: skill, Digest: "d", Body: true})
			answer = "loaded: " + skill + "\n" + state.Receipt{Call: i + 1, Changes: []state.Change{{Op: state.Loaded, Skill: skill}}}.String()
		}
		messages = append(messages, core.Message{Role: core.Assistant, Calls: []core.ToolCall{call}},
			core.Message{Role: core.ToolResult, CallID: call.ID, Text: answer})
	}
	for i := range messages {
		messages[i].Origin = i
	}
	content, err := state.NewContent(rec, func(string) (string, error) { return body, nil })
	if err != nil {
		tb.Fatal(err)
	}
	return messages, State{Record: rec, Content: content, Overview: processors.OverviewText{Guidance: "Load."}.Render(listed(20)), Delivers: map[string]bool{"skill_load": true}}
}

func BenchmarkRender(b *testing.B) {
	for name, place := range map[string]processors.Placement{"tool result": processors.InToolResult, "system": processors.InSystem} {
		b.Run(name, func(b *testing.B) {
			messages, st := longTurn(b)
			chain := Chain(place)
			b.ReportAllocs()
			for b.Loop() {
				if view, _ := Render(chain, messages, st); len(view) != 60 {
					b.Fatal(len(view))
				}
			}
		})
	}
}

func BenchmarkFenced(b *testing.B) {
	body := strings.Repeat("A line with <b>markup</b> for the model.\n", 200)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if prompttext.Fence(body) == "" {
			b.Fatal("empty")
		}
	}
}

// listed are n skills for an overview.
func listed(n int) (skills []core.Skill) {
	for i := range n {
		skills = append(skills, core.Skill{
			Name: fmt.Sprintf("skill-%05d", i), Description: fmt.Sprintf("Handles case %d. %s", i, strings.Repeat("Use it then. ", i%9)),
			Location: fmt.Sprintf("skills/skill-%05d/SKILL.md", i),
		})
	}
	return skills
}
