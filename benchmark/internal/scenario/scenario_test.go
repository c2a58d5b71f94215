package scenario

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

const small = `{"name":"small","instruction":"You help.","turns":[
 {"user":"one","steps":[{"need":"pdf","docs":["forms.md"]},{"tool":"look_up","args":{"q":"x","n":3,"deep":true},"result":"found"},{"say":"done"}]},
 {"user":"two","idle_seconds":400,"steps":[{"need":"pdf"},{"tool":"lookup","args":{"query":"y"},"result":"more"}]}]}`

func TestParse(t *testing.T) {
	s, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Turns) != 2 || s.Turns[1].IdleSeconds != 400 || string(s.Turns[0].Steps[1].Args) != `{"deep":true,"n":3,"q":"x"}` {
		t.Errorf("%+v", s)
	}
	var tools []string
	for _, tool := range s.Tools {
		tools = append(tools, tool.Name+" "+string(tool.Parameters))
	}
	want := []string{
		`look_up {"properties":{"deep":{"type":"boolean"},"n":{"type":"number"},"q":{"type":"string"}},"type":"object"}`,
		"lookup " + string(lookup.Parameters),
	}
	if !reflect.DeepEqual(tools, want) {
		t.Errorf("tools %q, want %q", tools, want)
	}
}

func TestParseErrors(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"no JSON":      {"{", "line 1, column 2: unexpected EOF"},
		"broken":       {"{\n \"näme\":,", "line 2, column 9: invalid character"},
		"another type": {"{\"name\":\"x\",\n\"turns\":7}", "line 2, column 9: json: cannot"},
		"no tool name": {`{"name":"x","turns":[{}],"tools":[{"type":"function","function":{"name":"f"}}]}`, "tools[0]: want a name"},
		"wrong field":  {`{"name":"x","turns":[{"steps":[{"nead":"pdf"}]}]}`, "turns[0].steps[0]: want one of"},
		"more":         {"{\"name\":\"x\",\"turns\":[{}]}\n\n {}", "line 3, column 2: more text"},
		"no name":      {`{"turns":[{}]}`, "name and turns"},
		"no turns":     {`{"name":"x"}`, "name and turns"},
		"bad name":     {`{"name":"../x","turns":[{}]}`, `name "../x"`},
		"empty step":   {`{"name":"x","turns":[{},{"steps":[{"say":"a"},{}]}]}`, "turns[1].steps[1]: want one of"},
		"two steps":    {`{"name":"x","turns":[{"steps":[{"need":"pdf","say":"hi"}]}]}`, "turns[0].steps[0]: want one of"},
		"args":         {`{"name":"x","turns":[{"steps":[{"tool":"f","args":[1]}]}]}`, "turns[0].steps[0]: args"},
	} {
		if _, err := Parse([]byte(test.text)); !errors.Is(err, ErrScenario) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want ErrScenario with %q", name, err, test.want)
		}
	}
}

func TestReadDirNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.json", small)
	if all, err := ReadDir(dir); err != nil || len(all) != 1 || all[0].File != filepath.Join(dir, "a.json") {
		t.Fatalf("%d scenarios, %v", len(all), err)
	}
	for file, text := range map[string]string{"b.json": small, "c.json": "{"} {
		write(t, dir, file, text)
		if _, err := ReadDir(dir); !errors.Is(err, ErrScenario) || !strings.Contains(err.Error(), filepath.Join(dir, file)) {
			t.Errorf("%s: %v", file, err)
		}
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFits(t *testing.T) {
	s, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	request := func(turn int, role, text string) prompt.Request {
		return prompt.Request{Turn: turn, Messages: []prompt.Message{{Role: "system", Content: "one"}, {Role: role, Content: text}}}
	}
	for name, test := range map[string]struct {
		last prompt.Request
		want bool
	}{
		"as it is":      {request(1, "user", "two"), true},
		"with a note":   {request(1, "user", "note\ntwo"), true},
		"another text":  {request(1, "user", "three"), false},
		"another role":  {request(1, "tool", "two"), false},
		"no such turn":  {request(2, "user", "two"), false},
		"a turn before": {request(-1, "user", "two"), false},
	} {
		c := &prompt.Capture{Requests: []prompt.Request{request(0, "user", "one"), test.last}}
		if got := s.Fits(c); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			return
		}
		for _, turn := range s.Turns {
			for _, step := range turn.Steps {
				found := step.Tool == ""
				for _, tool := range s.Tools {
					found = found || tool.Name == step.Tool
				}
				if !found {
					t.Fatalf("tool %q has no definition", step.Tool)
				}
			}
		}
	})
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T) (*Scenario, *Texts) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "pdf/SKILL.md", "---\nname: pdf\ndescription: Forms.\n---\n# PDF\n\n  First step.\nSecond </skill> step.\n")
	write(t, dir, "pdf/forms.md", "# Forms\nFill them in.\n")
	s, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	texts, err := Open(t.Context(), dir, []*Scenario{s})
	if err != nil {
		t.Fatal(err)
	}
	return s, texts
}

func TestFind(t *testing.T) {
	_, texts := open(t)
	for message, want := range map[string]string{
		"":      "",
		"# PDF": "",
		"loaded: pdf\n# PDF\n\n  First step.\nSecond </skill> step.\n---":       "pdf",
		"# PDF\nFirst step.\nSecond <\\/skill> step.":                           "pdf",
		"   1\t# PDF\n   2\t\n   3\t  First step.\n   4\tSecond </skill> step.": "pdf",
		"Second </skill> step.\nFirst step.\n# PDF":                             "",
		"# Forms\nFill them in. # PDF\nFirst step.\nSecond </skill> step.":      "pdf pdf/forms.md",
	} {
		var names []string
		for _, s := range texts.Find(message) {
			names = append(names, s.Text.Name())
			if s.From < 0 || s.To > len(message) || !strings.HasSuffix(message[:s.To], s.Text.lines[len(s.Text.lines)-1]) && !strings.HasSuffix(message[:s.To], `<\/skill> step.`) {
				t.Errorf("%q: span %d to %d", message, s.From, s.To)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q holds %q, want %q", message, got, want)
		}
	}
}

func TestOpenNamesWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "pdf/SKILL.md", "---\nname: pdf\ndescription: Forms.\n---\nBody.\n")
	for _, step := range []Step{{Need: "docx"}, {Need: "pdf", Docs: []string{"none.md"}}} {
		s := &Scenario{Name: "s", Turns: []Turn{{Steps: []Step{step}}}}
		if _, err := Open(t.Context(), dir, []*Scenario{s}); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), `scenario "s", turns[0].steps[0]: `) {
			t.Errorf("%+v: %v", step, err)
		}
	}
}

// The player asks for a missing text, asks again if it does not come, and then continues without it.
func TestPlayer(t *testing.T) {
	s, texts := open(t)
	body, doc := texts.All()[0].Whole, texts.All()[1].Whole
	say := func(contents ...string) (messages []prompt.Message) {
		for _, c := range contents {
			messages = append(messages, prompt.Message{Role: "tool", Content: c})
		}
		return messages
	}
	p := NewPlayer(s, texts)
	if got := p.Next(nil); got != (Action{}) {
		t.Errorf("before the first turn: %+v", got)
	}
	p.Begin(0)
	for i, step := range []struct {
		request []prompt.Message
		want    Action
	}{
		{nil, Action{Need: &Need{Skill: "pdf", Body: true, Docs: []string{"forms.md"}}}},
		{say(body), Action{Need: &Need{Skill: "pdf", Docs: []string{"forms.md"}}}},
		{say(body, doc), Action{Tool: &s.Turns[0].Steps[1]}},
		{say(body, doc), Action{Say: "done"}},
		{say(body, doc), Action{}},
	} {
		if got := p.Next(step.request); !reflect.DeepEqual(got, step.want) {
			t.Errorf("request %d: %+v, want %+v", i, got, step.want)
		}
	}
	if len(p.Met(true)) != 2 || len(p.Met(false)) != 2 || p.Unmet != nil {
		t.Errorf("met %v, unmet %v", p.Met(true), p.Unmet)
	}
	p.Forget("docx")
	if len(p.Met(true)) != 2 {
		t.Errorf("met %v", p.Met(true))
	}
	p.Forget("pdf")
	if len(p.Met(true)) != 0 || len(p.Met(false)) != 0 {
		t.Errorf("met %v and %v of a skill that is unloaded", p.Met(true), p.Met(false))
	}
	p.Begin(1)
	if got := p.Met(true); got != nil {
		t.Errorf("a turn that begins has met %v", got)
	}
	for range maxAsks {
		if got := p.Next(nil); got.Need == nil {
			t.Errorf("%+v, want a need", got)
		}
	}
	if got := p.Next(nil); got.Tool == nil || len(p.Unmet) != 1 {
		t.Errorf("%+v with %v unmet, want the tool", got, p.Unmet)
	}
}
