package replay

import (
	"context"
	"strings"

	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// injection returns an agent without skills: its system message has every body and the docs that the
// conversation needs, from the start. A real host does not know which docs will be needed, and sends
// all or none.
func injection() System {
	return System{Name: "full-injection", Variant: "system", play: func(_ context.Context, s *stage) error {
		s.player = scenario.NewPlayer(s.Once(), s.texts)
		parts := []string{s.Instruction}
		needed := neededDocs(s)
		for _, t := range s.texts.All() {
			if t.Doc == "" || needed[t] {
				parts = append(parts, "# "+t.Name()+"\n\n"+t.Whole)
			}
		}
		history := []prompt.Message{{Role: "system", Content: strings.TrimPrefix(strings.Join(parts, "\n\n"), "\n\n")}}
		for turn := range s.Turns {
			history = append(history, prompt.Message{Role: "user", Content: s.begin(turn)})
			for {
				a := s.send(s.Tools, history[:len(history):len(history)], nothing)
				history = append(history, prompt.Message{Role: "assistant", Content: a.say, Calls: a.calls})
				if a.calls == nil {
					break
				}
				for _, c := range a.calls {
					text, err := s.result(c.ID)
					if err != nil {
						return err
					}
					history = append(history, prompt.Message{Role: "tool", Content: text, CallID: c.ID, Name: c.Name})
				}
			}
		}
		return nil
	}}
}

func neededDocs(s *stage) map[*scenario.Text]bool {
	needed := make(map[*scenario.Text]bool)
	for _, turn := range s.Turns {
		for _, step := range turn.Steps {
			if step.Need != "" {
				for _, t := range s.texts.Of(step) {
					needed[t] = true
				}
			}
		}
	}
	return needed
}

// nothing is missing where everything is injected.
func nothing(*scenario.Need) []prompt.Call { return nil }
