package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// A session is played through satchel chat: the model gets every text that it asks for, and the
// figures say what the skills cost.
func TestSatchelPlays(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "satchel")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", program, "../../cmd/satchel").CombinedOutput(); err != nil {
		t.Fatalf("build satchel: %v: %s", err, out)
	}
	sessions, err := readSessions("sessions")
	if err != nil {
		t.Fatal(err)
	}
	session := sessions[0]
	for _, s := range sessions {
		if s.Name == "desk-support" {
			session = s
		}
	}
	skills, err := filepath.Abs("../skills")
	if err != nil {
		t.Fatal(err)
	}
	played := map[string][]request{}
	for _, policy := range []string{policyNone, policyNeed, policyAgain} {
		j := &job{System: "satchel", Session: session, Policy: policy, Program: program, Skills: skills, Dir: filepath.Join(dir, policy)}
		if err := j.play(t.Context()); err != nil {
			t.Fatal(err)
		}
		if played[policy], err = readRequests(j.Dir); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(played[policyNone]); n != len(session.Turns) {
		t.Errorf("%d requests without skills in %d turns", n, len(session.Turns))
	}
	for _, policy := range []string{policyNeed, policyAgain} {
		requests := played[policy]
		for _, step := range session.Turns[0].Steps {
			if step.Skill == "" {
				continue
			}
			body, err := readPart(skills, step.Skill, "", "")
			if err != nil {
				t.Fatal(err)
			}
			isIn := false
			for _, r := range requests {
				for _, p := range r.pieces {
					isIn = isIn || p.kind == "result" && body.isIn(p.text)
				}
			}
			if !isIn {
				t.Errorf("policy %s: no request holds the text of %s", policy, step.Skill)
			}
		}
		f, err := newCounter(t).figures(requests, played[policyNone])
		if err != nil {
			t.Fatal(err)
		}
		if f.First < 200 || f.Price <= f.Fixed || f.Largest <= f.First {
			t.Errorf("policy %s: figures %+v", policy, f)
		}
	}
	if need, again := len(played[policyNeed]), len(played[policyAgain]); need > again {
		t.Errorf("%d requests where the model loads what is not in view, %d where it loads again", need, again)
	}
}

func newCounter(t *testing.T) counter {
	t.Helper()
	renderer, err := prompt.NewO200k()
	if err != nil {
		t.Fatal(err)
	}
	return counter{renderer}
}

// Each session can be played, names headings that its docs have, and there are two of each kind.
func TestSessions(t *testing.T) {
	sessions, err := readSessions("sessions")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, s := range sessions {
		kinds[s.Kind]++
		for i, turn := range s.Turns {
			for _, step := range turn.Steps {
				if len(step.Sections) > len(step.Docs) {
					t.Errorf("%s, turn %d: more sections than docs", s.Name, i+1)
				}
				if len(s.lacking("../skills")) > 0 {
					continue // this repository does not contain the skills of the scenario
				}
				for j, doc := range step.Docs {
					heading := ""
					if j < len(step.Sections) {
						heading = step.Sections[j]
					}
					if _, err := readPart("../skills", step.Of, doc, heading); err != nil {
						t.Errorf("%s, turn %d: %v", s.Name, i+1, err)
					}
				}
			}
		}
	}
	for _, kind := range []string{"desk", "switch", "docs"} {
		if kinds[kind] < 2 {
			t.Errorf("%d sessions of kind %s, want two or more", kinds[kind], kind)
		}
	}
}

// The same conversation has the same pieces on each wire, and the endpoint answers on each in the
// form of the wire, streamed or not.
func TestWires(t *testing.T) {
	session := &Session{Name: "s", Turns: []Turn{{User: "Hello there", Steps: []Step{{Skill: "http-api"}, {Say: "Done."}}}}}
	bodies := map[string]string{
		"/v1/messages":         `{"model":"m","system":[{"type":"text","text":"Be brief."}],"tools":[{"name":"t"}],"messages":[{"role":"user","content":"Hello there"}]`,
		"/v1/responses":        `{"model":"m","instructions":"Be brief.","tools":[{"name":"t"}],"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello there"}]}]`,
		"/v1/chat/completions": `{"model":"m","tools":[{"type":"function","function":{"name":"t"}}],"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello there"}]`,
	}
	for path, body := range bodies {
		for _, stream := range []string{`,"stream":true}`, "}"} {
			a := agents()[0]
			a.asks = 1
			e := &endpoint{model: newModel(session, policyNeed, a, &place{skills: "../skills"}), dir: t.TempDir()}
			for _, want := range []string{"skill_load", "Done."} {
				w := httptest.NewRecorder()
				e.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body+stream)))
				if text := w.Body.String(); !strings.Contains(text, want) || (stream == "}") != json.Valid([]byte(text)) {
					t.Errorf("%s%s lacks %q:\n%s", path, stream, want, text)
				}
			}
			requests, err := readRequests(e.dir)
			if err != nil || len(requests) != 2 {
				t.Fatalf("%s: %d requests, %v", path, len(requests), err)
			}
			var all []string
			for _, p := range requests[0].pieces {
				all = append(all, p.kind+": "+p.text)
			}
			if got := strings.Join(all, "|"); !strings.HasPrefix(got, `tool: {"name":"t"}|`) || !strings.Contains(got, "system") || !strings.Contains(got, "Be brief.") || !strings.HasSuffix(got, "user: user\nHello there") {
				t.Errorf("%s is read as %s", path, got)
			}
		}
	}
}

// A price counts what an earlier request began with as read, and a break says what differs.
func TestFigures(t *testing.T) {
	bare := []request{{pieces: []piece{{"user", "one two three"}}}, {turn: 1, pieces: []piece{{"user", "one two three"}, {"user", "four"}}}}
	with := []request{
		{pieces: []piece{{"system", "alpha beta"}, {"user", "one two three"}}},
		{turn: 1, pieces: []piece{{"system", "alpha gamma"}, {"user", "one two three"}, {"user", "four"}}},
	}
	f, err := newCounter(t).figures(with, bare)
	if err != nil {
		t.Fatal(err)
	}
	if f.First != 2 || len(f.Breaks) != 1 || f.Breaks[0].Lost != 4 || f.Breaks[0].At != "alpha beta" {
		t.Errorf("figures %+v", f)
	}
	// alpha is read once; gamma and "one two three" are written again instead of read.
	if want := 2*1.25 + 0.1 + 1.25 + 3*(1.25-0.1); f.Price < want-1e-9 || f.Price > want+1e-9 {
		t.Errorf("price %v, want %v", f.Price, want)
	}
}

// A section ends before the next heading of its level, and its code may look like headings.
func TestSection(t *testing.T) {
	lines := strings.Split("# Top\n## One\ntext\n```sh\n# no heading\n```\n### Deeper\n## Two\nend", "\n")
	if first, last := section(lines, "One"); first != 2 || last != 7 {
		t.Errorf("lines %d to %d, want 2 to 7", first, last)
	}
	if first, last := section(lines, "Two"); first != 8 || last != 9 {
		t.Errorf("lines %d to %d, want 8 to 9", first, last)
	}
	if got := anchorOf("Tool Runner (Recommended)"); got != "tool-runner-recommended" {
		t.Errorf("anchor %q", got)
	}
}
