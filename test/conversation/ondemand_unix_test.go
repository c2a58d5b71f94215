//go:build unix

package conversation

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// indexed is a host that publishes skills in a well-known index, with the cache of those who fetch them.
type indexed struct {
	*httptest.Server
	root  source.Root
	texts map[string]string // of the SKILL.md files, by name

	mu      sync.Mutex
	fetched []string // the skills that were requested, in their order
	isDown  bool     // requests for skills fail
}

// describe returns the description of a skill of the index.
func describe(name string) string {
	if name == "hid" {
		return "Fill in and flatten PDF forms. Use when a user asks for a PDF form."
	}
	return "It does " + name + "."
}

func newIndexed(t *testing.T) *indexed {
	t.Helper()
	h := &indexed{texts: map[string]string{}}
	for name, front := range map[string]string{
		"take":  "arguments: [a]\n",
		"fork":  "context: fork\narguments: [a]\n",
		"video": "requires: {bins: [ffmpeg, sh]}\n",
		"hid":   "disable-model-invocation: true\n",
		"quiet": "user-invocable: false\n",
		"plain": "",
	} {
		h.texts[name] = "---\nname: " + name + "\ndescription: " + describe(name) + "\n" + front + "---\nBody of " + name + ", <$a>.\n"
	}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	h.root = source.WellKnown(h.URL, source.ArchiveOptions{CacheDir: t.TempDir(), Allow: func(u *url.URL) bool { return "http://"+u.Host == h.URL }})
	return h
}

func (h *indexed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if name, ok := strings.CutPrefix(r.URL.Path, "/skills/"); ok {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.fetched = append(h.fetched, name); h.isDown {
			http.Error(w, "down", http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, h.texts[name])
		return
	}
	var entries []map[string]string
	for _, name := range slices.Sorted(maps.Keys(h.texts)) {
		entries = append(entries, map[string]string{
			"name": name, "type": "skill-md", "description": describe(name), "url": "/skills/" + name,
			"digest": fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(h.texts[name]))),
		})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"skills": entries})
}

// requests returns the skills that were requested since the last call.
func (h *indexed) requests() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := strings.Join(h.fetched, " ")
	h.fetched = nil
	return all
}

func (h *indexed) open(t *testing.T, opts ...satchel.Option) *satchel.Runtime {
	t.Helper()
	return chattest.Open(t, fstest.MapFS{}, append(opts, satchel.WithSkillRoots([]source.Root{h.root}))...)
}

func answersFork(context.Context, satchel.ForkRequest) (string, error) { return "Done by a fork.", nil }

// TestLoadsOnDemand decides about a load by the SKILL.md that it has fetched, and in a later process
// by the cached one.
func TestLoadsOnDemand(t *testing.T) {
	h := newIndexed(t)
	options := func() []satchel.Option {
		return []satchel.Option{satchel.WithFork(satchel.Fork{Run: answersFork}), satchel.WithRunner(satchel.Runner{Executor: newElsewhere(t, "sh")})}
	}
	r := h.open(t, options()...)
	c := chattest.NewChat(t, r).Say(core.User, "Go.")
	before := chattest.Shown(c.View()[:1])
	const taken = `unknown field "arguments": taken all the same, because the skill takes arguments`
	for _, tt := range []struct{ call, answer, warm string }{
		{`skill_load {"skill":"take","arguments":"one two"}`, "loaded: take\n" + taken, "loaded: take"},
		{`skill_load {"skill":"take","arguments":"three"}`, "loaded: take (with other arguments: this text supersedes the earlier one)\n" + taken, "loaded: take (with other arguments: this text supersedes the earlier one)"},
		{`skill_load {"skill":"plain","arguments":"x"}`, "loaded: plain\nignored unknown field \"arguments\"", "loaded: plain"},
		{`skill_load {"skill":"fork"}`, "[forked: fork, 0 model calls]\nDone by a fork.", "[forked: fork, 0 model calls]\nDone by a fork."},
		{`skill_load {"skill":"video"}`, "loaded: video\nmissing here: program ffmpeg", "loaded: video\nmissing here: program ffmpeg"},
		{`skill_load {"skill":"hid"}`, `error: unknown skill "hid": use a name from the list of available skills`, `error: unknown skill "hid": use a name from the list of available skills`},
		{`skill_load {"skill":"quiet"}`, "loaded: quiet", "loaded: quiet"},
	} {
		answer, _, _ := strings.Cut(c.Calls(tt.call)[0], "\n[skill#")
		if answer != tt.answer {
			t.Errorf("%s:\n%s\nwant\n%s", tt.call, answer, tt.answer)
		}
		warm := chattest.NewChat(t, h.open(t, options()...)).Say(core.User, "Go.")
		if tt.call != `skill_load {"skill":"take","arguments":"three"}` {
			_ = warm.Runtime.Ready(t.Context()) // what is awaited are the programs
			if answer, _, _ := strings.Cut(warm.Calls(tt.call)[0], "\n[skill#"); answer != tt.warm {
				t.Errorf("%s in a later process:\n%s\nwant\n%s", tt.call, answer, tt.warm)
			}
		}
	}
	view := chattest.Shown(c.View())
	if !strings.Contains(view, "Body of take, <three>.") || !strings.HasPrefix(view, before) {
		t.Errorf("the view is\n%s", view)
	}
	if got := h.requests(); got != "take plain fork video hid quiet" {
		t.Errorf("requested: %s", got)
	}
	if later := chattest.Shown(chattest.NewChat(t, h.open(t)).Say(core.User, "Go.").View()[:1]); !strings.Contains(before, describe("hid")) || strings.Contains(later, describe("hid")) || h.requests() != "" {
		t.Errorf("the overview was\n%s\nand is in a later process\n%s", before, later)
	}
}

// TestLoadOnDemandFails asks an unreachable host once.
func TestLoadOnDemandFails(t *testing.T) {
	h := newIndexed(t)
	c := chattest.NewChat(t, h.open(t)).Say(core.User, "Go.")
	c.View()
	h.isDown = true
	if answer := c.Calls(`skill_load {"skill":"take"}`)[0]; !strings.HasPrefix(answer, `error: skill "take" cannot be read: `) || !strings.Contains(answer, "500") || h.requests() != "take" {
		t.Errorf("%s", answer)
	}
}

// TestPreloadOnDemand refuses to preload skills whose SKILL.md hides or forks them.
func TestPreloadOnDemand(t *testing.T) {
	for name, want := range map[string]string{"take": "", "hid": `skill "hid" is hidden from the model`, "fork": `skill "fork" runs as an agent of its own`, "video": "missing here: program ffmpeg"} {
		for _, when := range []string{"at first", "when it is cached"} {
			h := newIndexed(t)
			opts := []satchel.Option{
				satchel.WithSkillRoots([]source.Root{h.root}), satchel.WithFork(satchel.Fork{Run: answersFork}),
				satchel.WithLoading(satchel.Loading{Preload: []string{name}}), hiding(newElsewhere(t, "sh")),
			}
			r, err := satchel.New(opts...)
			if when != "at first" {
				if err == nil {
					_ = r.Close()
				}
				r, err = satchel.New(opts...)
			}
			switch {
			case want == "" && err != nil, want != "" && (!errors.Is(err, satchel.ErrOption) || !strings.Contains(err.Error(), want)):
				t.Errorf("%s %s: %v, want %q", name, when, err, want)
			case err == nil:
				_ = r.Close()
			}
			if got := h.requests(); got != name {
				t.Errorf("%s %s: requested: %s", name, when, got)
			}
		}
	}
}

// TestHideOnDemand refuses the load of a skill whose SKILL.md declares needs that are not met.
func TestHideOnDemand(t *testing.T) {
	h := newIndexed(t)
	c := chattest.NewChat(t, h.open(t, hiding(newElsewhere(t, "sh")))).Say(core.User, "Go.")
	if answer := c.Calls(`skill_load {"skill":"video"}`)[0]; answer != `error: skill "video" is not loaded, because it cannot work; missing here: program ffmpeg` {
		t.Errorf("%s", answer)
	}
	c = chattest.NewChat(t, h.open(t, hiding(newElsewhere(t, "sh", "ffmpeg")))).Say(core.User, "Go.")
	if answer := c.Calls(`skill_load {"skill":"video"}`)[0]; !strings.HasPrefix(answer, "loaded: video\n[") {
		t.Errorf("with the program: %s", answer)
	}
}

// TestMentionsOnDemand loads no skill that its SKILL.md keeps from people, and guesses no hidden one.
func TestMentionsOnDemand(t *testing.T) {
	activation := satchel.WithActivation(satchel.Activation{Mentions: satchel.Slash, Load: true, Most: 3})
	for message, want := range map[string]string{"/take one": "Body of take, <one>.", "/hid": "Body of hid", "/quiet x": "", "please fill in and flatten this PDF form": ""} {
		h := newIndexed(t)
		c := chattest.NewChat(t, h.open(t, activation)).Say(core.User, message)
		view := c.View()
		if last := view[len(view)-1].Text; want == "" && last != message || !strings.Contains(last, want) {
			t.Errorf("%s: the message is\n%s", message, last)
		}
		if got := h.requests(); got != "hid" && !strings.HasPrefix(message, "/"+got) || got == "" {
			t.Errorf("%s: requested: %s", message, got)
		}
	}
}
