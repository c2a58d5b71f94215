package processors

import (
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// longTurn is a request of 60 messages in which three skills of 8 KB are
// loaded.
func longTurn(tb testing.TB) ([]core.Message, State) {
	tb.Helper()
	rec := &state.Record{Turn: 1}
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
	content, err := NewContent(rec, func(string) (string, error) { return body, nil })
	if err != nil {
		tb.Fatal(err)
	}
	return messages, State{Record: rec, Content: content, Overview: OverviewText{Guidance: "Load."}.Render(many(20)), Delivers: map[string]bool{"skill_load": true}}
}

func BenchmarkRender(b *testing.B) {
	for name, place := range map[string]Placement{"tool result": InToolResult, "system": InSystem} {
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

func BenchmarkOverview(b *testing.B) {
	skills := many(1000)
	b.ReportAllocs()
	for b.Loop() {
		if (OverviewText{}).Render(skills) == "" {
			b.Fatal("empty")
		}
	}
}

func BenchmarkFenced(b *testing.B) {
	body := strings.Repeat("A line with <b>markup</b> for the model.\n", 200)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if fenced(body) == "" {
			b.Fatal("empty")
		}
	}
}
