//go:build unix

package conversation

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/skillmd"
)

// elsewhere is an executor that has a few programs. Its search waits for opened, if that is set.
type elsewhere struct {
	executor.Executor
	has    atomic.Pointer[[]string]
	opened chan struct{}
	finds  atomic.Int32
}

func newElsewhere(t *testing.T, programs ...string) *elsewhere {
	t.Helper()
	own, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	e := &elsewhere{Executor: own}
	e.has.Store(&programs)
	return e
}

func (e *elsewhere) Find(ctx context.Context, name, _ string) (string, error) {
	e.finds.Add(1)
	if e.opened != nil {
		select {
		case <-e.opened:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	if slices.Contains(*e.has.Load(), name) {
		return "/bin/" + name, nil
	}
	return "", fs.ErrNotExist
}

// needyFiles has skills that need ffmpeg, a variable, a server, another system and nothing.
func needyFiles() *chattest.Files {
	f := chattest.NewFiles()
	for name, front := range map[string]string{
		"video":  "requires: {bins: [ffmpeg]}",
		"key":    "metadata: {openclaw: {requires: {env: [API_KEY]}}}",
		"mac":    "metadata: {openclaw: {os: [darwin]}}",
		"rube":   "requires: {mcp: [rube]}",
		"always": "metadata: {openclaw: {always: true, requires: {bins: [ffmpeg]}}}",
		"plain":  "license: MIT",
	} {
		f.Put(name+"/SKILL.md", "---\nname: "+name+"\ndescription: It is "+name+".\n"+front+"\n---\nBody of "+name+".\n", time.Unix(1e9, 0))
	}
	return f
}

func hiding(by executor.Executor, opts ...satchel.Option) satchel.Option {
	return satchel.Options(append(opts, satchel.WithOverview(satchel.Overview{Needs: satchel.Hide}), satchel.WithRunner(satchel.Runner{Executor: by}))...)
}

func inSession(t *testing.T, r *satchel.Runtime, id string, tools ...string) *chattest.Chat {
	t.Helper()
	c := chattest.NewChat(t, r)
	c.Key.Session = id
	c.Say(core.User, "Hello.")
	if tools != nil {
		if _, err := r.Prepare(t.Context(), core.Request{Key: c.Key, Messages: []core.Message{{Role: core.User, Text: "Hello."}}, Tools: tools}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// listed returns which of the needy skills the overview of a conversation lists.
func listed(c *chattest.Chat) (names []string) {
	text := everything(c)
	for _, name := range []string{"always", "key", "mac", "plain", "rube", "video"} {
		if strings.Contains(text, "It is "+name+".") {
			names = append(names, name)
		}
	}
	return names
}

func TestHideUnmetNeeds(t *testing.T) {
	by := newElsewhere(t)
	events := map[string]string{}
	r := chattest.Open(t, needyFiles(), hiding(by, satchel.WithEvents(func(_ context.Context, e core.Event) {
		if e.Kind == core.SkillNeeds {
			events[e.Skill] = e.Detail
		}
	})))
	unmet := func(session string) []string {
		t.Helper()
		why, err := r.Unmet(satchel.WithSession(t.Context(), session))
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for id, missing := range why {
			lines = append(lines, id[strings.LastIndex(id, "/")+1:]+": "+missing)
		}
		slices.Sort(lines)
		return lines
	}
	if err := r.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	chattest.Same(t, "what a new session hides", unmet("new"), "key: variable API_KEY", "mac: only on macOS", "video: program ffmpeg")
	c := inSession(t, r, "a", "skill_load", "search")
	chattest.Same(t, "what the session hides", unmet("a"), "key: variable API_KEY", "mac: only on macOS", "rube: MCP server rube", "video: program ffmpeg")
	if _, err := r.Unmet(t.Context()); !errors.Is(err, satchel.ErrNoSession) {
		t.Errorf("without a session: %v", err)
	}
	chattest.Same(t, "the list", listed(c), "always", "plain")
	for skill, want := range map[string]string{
		"video": `error: skill "video" is not loaded, because it cannot work; missing here: program ffmpeg`,
		"key":   `error: skill "key" is not loaded, because it cannot work; missing here: variable API_KEY`,
		"rube":  `error: skill "rube" is not loaded, because it cannot work; missing here: MCP server rube`,
		"mac":   `error: skill "mac" is not loaded, because it cannot work; missing here: only on macOS`,
	} {
		if answer := c.Calls(`skill_load {"skill":"` + skill + `"}`)[0]; answer != want {
			t.Errorf("load of %s: %s", skill, answer)
		}
	}
	if answer := c.Calls(`skill_load {"skill":"always"}`)[0]; !strings.HasPrefix(answer, "loaded: always\nmissing here: program ffmpeg\n[skill#") {
		t.Errorf("load of always: %s", answer)
	}
	if answer := c.Calls(`skill_load {"skill":"vdeo"}`)[0]; strings.Contains(answer, "video") {
		t.Errorf("a hidden skill is suggested: %s", answer)
	}
	if len(events) != 1 || events["always"] != "program ffmpeg" {
		t.Errorf("events %v", events)
	}
	var hidden []string
	for _, d := range r.Diagnostics() {
		if d.Code == "needs-missing" && d.Severity == skillmd.Warning && strings.Contains(d.Message, "hidden from the model: missing here: ") {
			hidden = append(hidden, d.File[strings.Index(d.File, "/")+1:strings.LastIndex(d.File, "/")])
		}
	}
	chattest.Same(t, "the diagnostics", hidden, "key", "mac", "video")

	host := inSession(t, r, "host", "mcp__rube__find")
	chattest.Same(t, "the list of an agent with the server", listed(host), "always", "plain", "rube")
}

// TestHiddenSkillsStayHidden keeps what was hidden when the session began, in this process and in
// another one, whatever the machine has later. A new session sees what there is now.
func TestHiddenSkillsStayHidden(t *testing.T) {
	files, store := needyFiles(), session.NewMemory()
	by := newElsewhere(t)
	r := chattest.Open(t, files, hiding(by, satchel.WithStore(store)))
	c := inSession(t, r, "a")
	chattest.Same(t, "the list", listed(c), "always", "plain", "rube")
	before := c.View()

	richer := newElsewhere(t, "ffmpeg")
	other := chattest.Open(t, files, hiding(richer, satchel.WithStore(store)))
	moved := *c
	moved.Runtime = other
	moved.Answer("Hello.")
	moved.Say(core.User, "Again.")
	after := moved.View()
	for i := range before {
		if before[i].Text != after[i].Text {
			t.Errorf("message %d has changed in another process:\n%s\n%s", i, before[i].Text, after[i].Text)
		}
	}
	if text := everything(&moved); strings.Contains(text, "video") {
		t.Errorf("the session sees a skill that was hidden when it began: %s", text)
	}
	if answer := moved.Calls(`skill_load {"skill":"video"}`)[0]; !strings.Contains(answer, "missing here: program ffmpeg") {
		t.Errorf("load: %s", answer)
	}
	chattest.Same(t, "the list of a new session", listed(inSession(t, other, "b")), "always", "plain", "rube", "video")
}

// TestNewSkillsOfASession hides a new skill whose needs are not met, and announces one whose needs
// are.
func TestNewSkillsOfASession(t *testing.T) {
	files := needyFiles()
	r := chattest.Open(t, files, hiding(newElsewhere(t)))
	c := inSession(t, r, "a")
	listed(c)
	for name, front := range map[string]string{"later": "requires: {env: [NO_SUCH]}", "fine": "license: MIT"} {
		files.Put(name+"/SKILL.md", "---\nname: "+name+"\ndescription: It is "+name+".\n"+front+"\n---\nBody.\n", time.Unix(2e9, 0))
	}
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Answer("Hello.")
	c.Say(core.User, "Again.")
	text := everything(c)
	if !strings.Contains(text, "It is fine.") || strings.Contains(text, "It is later.") {
		t.Errorf("the note about new skills: %s", text)
	}
	if answer := c.Calls(`skill_load {"skill":"later"}`)[0]; !strings.Contains(answer, "missing here: variable NO_SUCH") {
		t.Errorf("load: %s", answer)
	}
}

// TestFirstRequestWaitsForPrograms waits two seconds for a search that hangs, and then hides no skill
// for its programs. What the search finds later counts in the next session.
func TestFirstRequestWaitsForPrograms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := newElsewhere(t)
		by.opened = make(chan struct{})
		r := chattest.Open(t, needyFiles(), hiding(by))
		began := time.Now()
		c := inSession(t, r, "a")
		chattest.Same(t, "the list before the search has ended", listed(c), "always", "plain", "rube", "video")
		if waited := time.Since(began); waited != 2*time.Second {
			t.Errorf("the first request waited %v, want 2s", waited)
		}
		if answer := c.Calls(`skill_load {"skill":"video"}`)[0]; strings.Contains(answer, "missing") {
			t.Errorf("load before the search has ended: %s", answer)
		}
		close(by.opened)
		synctest.Wait()
		c.Answer("Hello.")
		c.Say(core.User, "Again.")
		chattest.Same(t, "the list of the session", listed(c), "always", "plain", "rube", "video")
		if answer := c.Calls(`skill_load {"skill":"video"}`)[0]; !strings.Contains(answer, "missing here: program ffmpeg") {
			t.Errorf("load after the search has ended: %s", answer)
		}
		began = time.Now()
		chattest.Same(t, "the list of the next session", listed(inSession(t, r, "b")), "always", "plain", "rube")
		if waited := time.Since(began); waited != 0 {
			t.Errorf("the next session waited %v", waited)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestFailedSearchHidesNothing says nothing of programs that could not be looked for.
func TestFailedSearchHidesNothing(t *testing.T) {
	own, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	r := chattest.Open(t, needyFiles(), hiding(broken{own}))
	c := inSession(t, r, "a")
	chattest.Same(t, "the list", listed(c), "always", "plain", "rube", "video")
}

type broken struct{ executor.Executor }

func (broken) Find(context.Context, string, string) (string, error) {
	return "", errors.New("the machine is lost")
}

// TestNoSearchWithoutNeeds asks the executor for nothing if no skill needs a program.
func TestNoSearchWithoutNeeds(t *testing.T) {
	by := newElsewhere(t)
	w := chattest.NewWorld(2)
	r := chattest.Open(t, w.Files, hiding(by))
	c := inSession(t, r, "a")
	if text := everything(c); !strings.Contains(text, "s0") {
		t.Errorf("the overview: %s", text)
	}
	if err := r.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if n := by.finds.Load(); n != 0 {
		t.Errorf("%d searches", n)
	}
}

// TestTellUnmetNeeds lists all skills. A load by the user or the host says what is missing in a note.
func TestTellUnmetNeeds(t *testing.T) {
	by := newElsewhere(t)
	secrets := func(_ context.Context, skill core.Skill, name string) (string, bool) {
		return "value", skill.Name == "key" && name == "API_KEY"
	}
	r := chattest.Open(t, needyFiles(), satchel.WithRunner(satchel.Runner{Executor: by, Secret: secrets}), satchel.WithActivation(satchel.Activation{Mentions: satchel.Dollar}))
	if err := r.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := inSession(t, r, "a")
	chattest.Same(t, "the list", listed(c), "always", "key", "mac", "plain", "rube", "video")
	if answer := c.Calls(`skill_load {"skill":"key"}`)[0]; strings.Contains(answer, "missing") {
		t.Errorf("the variable is given, and the answer is %s", answer)
	}
	c.Answer("Hello.")
	c.Say(core.User, "Use $video and $key.")
	if text := everything(c); strings.Count(text, "<skill_needs>missing here: program ffmpeg</skill_needs>") != 1 || strings.Count(text, "<skill_needs>") != 1 {
		t.Errorf("the request: %s", text)
	}
	c.Answer("Hello.")
	c.Say(core.User, "Use $video again.")
	if text := everything(c); strings.Count(text, "<skill_needs>") != 1 {
		t.Errorf("the note stands twice: %s", text)
	}
}
