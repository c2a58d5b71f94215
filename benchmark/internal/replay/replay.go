// Package replay plays a scenario through a system and records every request that the system
// sends to its model. All systems get the same script, the same host tools and the same ids of
// calls. They are asked for a text only when it is not in the request.
package replay

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// System is one way to give an agent its skills.
type System struct {
	// Name and Variant are its names in reports and captures.
	Name, Variant string
	// Adapter: it is one of Satchel's adapters, which send what the runtime sends.
	Adapter bool
	play    func(ctx context.Context, s *stage) error
}

// Systems returns the systems that this package can play, in the order of reports. The first one is
// Satchel with its defaults.
func Systems() []System {
	systems := coreSystems()
	systems = append(systems, einoAdapter(), langchaingoAdapter())
	systems = append(systems, einoSkills()...)
	return append(systems, injection())
}

// Play plays a scenario. skills is the directory of the skills that texts were
// read from.
func (sys System) Play(ctx context.Context, s *scenario.Scenario, texts *scenario.Texts, skills string) (*prompt.Capture, error) {
	st := &stage{
		Scenario: s, texts: texts, skills: skills, player: scenario.NewPlayer(s, texts),
		capture: &prompt.Capture{Scenario: s.Name, System: sys.Name, Variant: sys.Variant},
		store:   newIdleStore(),
	}
	if err := sys.play(ctx, st); err != nil {
		return nil, fmt.Errorf("play %s through %s (%s): %w", s.Name, sys.Name, sys.Variant, err)
	}
	return st.capture, nil
}

// stage is one play: the script and the recorded requests.
type stage struct {
	*scenario.Scenario
	texts   *scenario.Texts
	skills  string
	player  *scenario.Player
	capture *prompt.Capture

	// store is where Satchel keeps the session.
	store   *idleStore
	turn    int
	calls   int                       // made so far
	results map[string]string         // of calls of the host's tools, by id
	asked   map[string]*scenario.Need // what other calls ask for, by id
}

// begin starts a turn and returns what the user says.
func (s *stage) begin(turn int) string {
	s.turn, s.results, s.asked = turn, make(map[string]string), make(map[string]*scenario.Need)
	s.player.Begin(turn)
	s.store.pass(s.Turns[turn].IdleSeconds)
	return s.Turns[turn].User
}

// answer is an answer of the model: calls, or a text.
type answer struct {
	calls []prompt.Call
	say   string
}

// vocabulary turns a need into calls of a system's own tools, without ids.
type vocabulary func(n *scenario.Need) []prompt.Call

// send records a request and answers it.
func (s *stage) send(tools []prompt.Tool, messages []prompt.Message, speak vocabulary) answer {
	s.capture.Requests = append(s.capture.Requests, prompt.Request{Turn: s.turn, Tools: tools, Messages: messages})
	action := s.player.Next(messages)
	var a answer
	switch {
	case action.Need != nil:
		a.calls = speak(action.Need)
	case action.Tool != nil:
		a.calls = []prompt.Call{{Name: action.Tool.Tool, Arguments: string(action.Tool.Args)}}
	default:
		a.say = action.Say
	}
	for i := range a.calls {
		s.calls++
		a.calls[i].ID = fmt.Sprintf("call_%03d", s.calls)
		if action.Tool != nil {
			s.results[a.calls[i].ID] = action.Tool.Result
		} else {
			s.asked[a.calls[i].ID] = action.Need
		}
	}
	return a
}

// result returns the answer of a tool of the host to a call.
func (s *stage) result(id string) (string, error) {
	text, ok := s.results[id]
	if !ok {
		return "", fmt.Errorf("the script has no result for call %q", id)
	}
	return text, nil
}

// arguments writes the arguments of a call as a model would.
func arguments(fields map[string]any) string {
	text, err := plainjson.Encode(fields)
	if err != nil {
		panic(fmt.Sprintf("replay: arguments: %v", err)) // strings always marshal
	}
	return text
}

// satchelCalls are the calls for Satchel's own vocabulary.
func satchelCalls(n *scenario.Need) []prompt.Call {
	fields := map[string]any{"skill": n.Skill}
	if n.Docs != nil {
		fields["docs"] = n.Docs
	}
	if n.Body {
		return []prompt.Call{{Name: "skill_load", Arguments: arguments(fields)}}
	}
	fields["mode"] = "add"
	return []prompt.Call{{Name: "skill_select_docs", Arguments: arguments(fields)}}
}

// define is the definition of a tool from a schema of any type.
func define(name, description string, schema any) (prompt.Tool, error) {
	raw, err := json.Marshal(schema)
	if err != nil {
		return prompt.Tool{}, fmt.Errorf("schema of %q: %w", name, err)
	}
	return prompt.Tool{Name: name, Description: description, Parameters: raw}, nil
}
