package measure

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// stage is a conversation of two turns that both need a skill.
type stage struct {
	scenario *scenario.Scenario
	texts    *scenario.Texts
	renderer *prompt.Renderer
	body     string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir := t.TempDir()
	body := "Do this first.\nThen do that."
	if err := os.Mkdir(filepath.Join(dir, "pdf"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pdf", "SKILL.md"), []byte("---\nname: pdf\ndescription: Forms.\n---\n"+body+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Parse([]byte(`{"name":"s","turns":[
		{"user":"one","steps":[{"need":"pdf"},{"tool":"lookup","args":{},"result":"found"},{"say":"done"}]},
		{"user":"two","idle_seconds":600,"steps":[{"say":"bye"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	texts, err := scenario.Open(t.Context(), dir, []*scenario.Scenario{s})
	if err != nil {
		t.Fatal(err)
	}
	renderer, err := prompt.NewO200k()
	if err != nil {
		t.Fatal(err)
	}
	return &stage{s, texts, renderer, body}
}

// capture makes a capture of requests that grow; in the last one, of the second
// turn, the load's result is shown as given.
func (s *stage) capture(variant, cleared string) *prompt.Capture {
	system := prompt.Message{Role: "system", Content: "You help."}
	load := []prompt.Message{
		{Role: "assistant", Calls: []prompt.Call{{Name: "load", Arguments: "{}"}}},
		{Role: "tool", Content: "stub\n\n" + s.body},
	}
	look := []prompt.Message{
		{Role: "assistant", Calls: []prompt.Call{{Name: "lookup", Arguments: "{}"}}},
		{Role: "tool", Content: "found"},
	}
	join := func(parts ...[]prompt.Message) (all []prompt.Message) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	first := []prompt.Message{system, {Role: "user", Content: "one"}}
	over := join(load)
	over[1].Content = cleared
	return &prompt.Capture{Scenario: "s", System: "x", Variant: variant, Requests: []prompt.Request{
		{Messages: first}, {Messages: join(first, load)}, {Messages: join(first, load, look)},
		{Turn: 1, Messages: join(first, over, look, []prompt.Message{{Role: "assistant", Content: "done"}, {Role: "user", Content: "two"}})},
	}}
}

func (s *stage) of(t *testing.T, c *prompt.Capture, prices ...cachemodel.Price) *Conversation {
	t.Helper()
	m, err := Of(c, s.scenario, s.texts, s.renderer, prices)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (s *stage) tokens(t *testing.T, text string) int {
	t.Helper()
	ids, err := s.renderer.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	return len(ids)
}

func exact(read, write float64) cachemodel.Price {
	return cachemodel.Price{Name: "p", Read: read, Write: write, Model: cachemodel.Stepped(1, 1)}
}

// Requests that only grow cost just the bound.
func TestGrowingRequestsCostTheBound(t *testing.T) {
	s := newStage(t)
	m := s.of(t, s.capture("session", "stub\n\n"+s.body), exact(0.1, 1.25))
	c := m.At("p")
	if math.Abs(c.Ratio-1) > 1e-9 || len(m.Breaks) != 0 || len(m.Lost) != 0 {
		t.Errorf("%+v with %+v", m, c)
	}
	if m.Requests != 4 || m.SkillCalls != 1 || m.Peak != m.Sizes[3] || m.Fixed != 4+s.tokens(t, "You help.") {
		t.Errorf("%+v", m)
	}
	if c.Written != m.Peak || c.Read != m.Prompt-m.Peak {
		t.Errorf("%+v of %d tokens", c, m.Prompt)
	}
}

// After clearing, the cache writes the following messages again. The bound counts them as sent
// before, and does not count the cleared body.
func TestClearedContent(t *testing.T) {
	s := newStage(t)
	c := s.capture("turn", "stub")
	m := s.of(t, c, exact(0, 1))
	behind := s.tokens(t, "found") + 4 + s.tokens(t, "lookup") + s.tokens(t, "{}") + 5 + 1 // the last token ends the message of the stub
	fresh := s.tokens(t, "done") + 4 + s.tokens(t, "two") + 4
	first := m.Sizes[2]
	if got, want := m.At("p").ITE, float64(first+behind+fresh); got != want {
		t.Errorf("cost %v, want %v", got, want)
	}
	// The message of the stub ends where the body began, so its last token is new.
	if got, want := m.At("p").Bound, float64(first+fresh+1); got != want {
		t.Errorf("bound %v, want %v", got, want)
	}
	want := []cachemodel.Break{{Request: 3, Turn: 1, TurnBegins: true, Block: "result", Lost: behind}}
	if !reflect.DeepEqual(m.Breaks, want) || len(m.Lost) != 0 {
		t.Errorf("breaks %+v, want %+v", m.Breaks, want)
	}
}

// The same requests lack a text whose lifetime is the session, but not one whose lifetime is the
// turn.
func TestLostText(t *testing.T) {
	s := newStage(t)
	m := s.of(t, s.capture("session", "stub"))
	if want := []Loss{{3, "pdf"}}; !reflect.DeepEqual(m.Lost, want) {
		t.Errorf("lost %+v, want %+v", m.Lost, want)
	}
	c := s.capture("turn", "stub")
	c.Requests[2].Messages = append([]prompt.Message{}, c.Requests[2].Messages...)
	c.Requests[2].Messages[3].Content = "stub"
	if m := s.of(t, c); len(m.Lost) != 1 || m.Lost[0].Request != 2 {
		t.Errorf("lost %+v, want the body in request 2", m.Lost)
	}
}

// The text of a skill that the task no longer needs is dead: it adds to the cost and not to the
// bound.
func TestDeadContentIsNotInTheBound(t *testing.T) {
	s := newStage(t)
	dead := s.of(t, s.capture("turn", "stub\n\n"+s.body), exact(0.5, 1)).At("p")
	alive := s.of(t, s.capture("session", "stub\n\n"+s.body), exact(0.5, 1)).At("p")
	if got, want := alive.Bound-dead.Bound, 0.5*float64(s.tokens(t, s.body)); math.Abs(got-want) > 1e-9 || dead.ITE != alive.ITE {
		t.Errorf("bounds %v and %v differ by %v, want %v", alive.Bound, dead.Bound, got, want)
	}
}

func TestIdleTime(t *testing.T) {
	s := newStage(t)
	p := exact(0.1, 1)
	c := s.capture("session", "stub\n\n"+s.body)
	warm := s.of(t, c, p).At("p")
	p.TTL = 1
	if cold := s.of(t, c, p).At("p"); cold.Read >= warm.Read || cold.Read == 0 {
		t.Errorf("%+v when idle, %+v without an end", cold, warm)
	}
}

func TestUnmetNeed(t *testing.T) {
	s := newStage(t)
	c := &prompt.Capture{Scenario: "s", System: "x", Variant: "turn"}
	for range 4 {
		c.Requests = append(c.Requests, prompt.Request{Messages: []prompt.Message{{Role: "user", Content: "one"}}})
	}
	if m := s.of(t, c); !reflect.DeepEqual(m.Unmet, []string{"pdf"}) {
		t.Errorf("unmet %v", m.Unmet)
	}
}

func TestBadTool(t *testing.T) {
	s := newStage(t)
	c := &prompt.Capture{Scenario: "s", Requests: []prompt.Request{{Tools: []prompt.Tool{{Name: "f", Parameters: []byte("{")}}}}}
	if _, err := Of(c, s.scenario, s.texts, s.renderer, nil); err == nil || !strings.Contains(err.Error(), `"f"`) {
		t.Errorf("error %v", err)
	}
}
