package needs_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/needs"
)

// machine has programs on one PATH, and another PATH for the skill "own".
type machine struct {
	mu       sync.Mutex
	has      []string
	err      error
	searches []map[string][]string
}

func (m *machine) System() string { return "linux" }

func (m *machine) SearchPath(_ context.Context, skill core.Skill, _ *catalog.Catalog) (string, error) {
	if skill.Name == "own" {
		return "/own:/bin", nil
	}
	return "/bin", nil
}

func (m *machine) FindPrograms(_ context.Context, wanted map[string][]string) (map[string][]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.searches = append(m.searches, wanted)
	found := map[string][]string{}
	for path, names := range wanted {
		for _, name := range names {
			if slices.Contains(m.has, name) || name == "mine" && path == "/own:/bin" {
				found[path] = append(found[path], name)
			}
		}
	}
	return found, m.err
}

func open(t *testing.T, m *machine, skills map[string]string) (*catalog.Catalog, *needs.Prober) {
	t.Helper()
	files := fstest.MapFS{}
	for name, bins := range skills {
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: It is.\nrequires: {bins: [" + bins + "]}\n---\n")}
	}
	c, err := catalog.Open(t.Context(), []source.Root{source.FS("test", files)})
	if err != nil {
		t.Fatal(err)
	}
	p := needs.NewProber(m, c, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	})
	return c, p
}

func verdict(t *testing.T, c *catalog.Catalog, p *needs.Prober, skill, program string) needs.Verdict {
	t.Helper()
	s, err := c.Snapshot().Resolve(skill)
	if err != nil {
		t.Fatal(err)
	}
	judge := p.Program(s)
	if judge == nil {
		return needs.Unknown
	}
	return judge(program)
}

// TestProberLooksOnce looks for all names of a catalog at once, each once on each PATH.
func TestProberLooksOnce(t *testing.T) {
	m := &machine{has: []string{"sh"}}
	c, p := open(t, m, map[string]string{"a": "sh, gone", "b": "sh, gone", "own": "mine, sh"})
	if v := verdict(t, c, p, "a", "sh"); v != needs.Unknown {
		t.Errorf("before a probe: %v", v)
	}
	p.Wait(t.Context())
	p.Wait(t.Context())
	for _, tt := range []struct {
		skill, program string
		want           needs.Verdict
	}{{"a", "sh", needs.Met}, {"b", "gone", needs.Unmet}, {"own", "mine", needs.Met}, {"a", "never-declared", needs.Unknown}} {
		if got := verdict(t, c, p, tt.skill, tt.program); got != tt.want {
			t.Errorf("%s of %s: %v, want %v", tt.program, tt.skill, got, tt.want)
		}
	}
	if len(m.searches) != 1 || len(m.searches[0]["/bin"]) != 2 || len(m.searches[0]["/own:/bin"]) != 2 {
		t.Errorf("searches %v, want one for two names on each PATH", m.searches)
	}
}

// TestProberLooksAgain looks for missing programs after a minute, and only for these. Until then the
// earlier result holds, and nothing waits.
func TestProberLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{has: []string{"sh"}}
		c, p := open(t, m, map[string]string{"a": "sh, ffmpeg"})
		p.Wait(t.Context())
		m.has = append(m.has, "ffmpeg") // somebody has installed it
		time.Sleep(59 * time.Second)
		p.Want()
		synctest.Wait()
		if v := verdict(t, c, p, "a", "ffmpeg"); v != needs.Unmet {
			t.Errorf("before a minute: %v", v)
		}
		time.Sleep(2 * time.Second)
		p.Wait(t.Context())
		synctest.Wait()
		if v := verdict(t, c, p, "a", "ffmpeg"); v != needs.Met {
			t.Errorf("after a minute: %v", v)
		}
		time.Sleep(time.Hour)
		p.Want()
		synctest.Wait()
		if len(m.searches) != 2 || !slices.Equal(m.searches[1]["/bin"], []string{"ffmpeg"}) {
			t.Errorf("searches %v, want a second one for ffmpeg alone", m.searches)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestProberFails knows nothing after a search that failed, and tries again after a minute.
func TestProberFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{err: errors.New("no engine")}
		c, p := open(t, m, map[string]string{"a": "sh"})
		p.Wait(t.Context())
		p.Wait(t.Context())
		if v := verdict(t, c, p, "a", "sh"); v != needs.Unknown || len(m.searches) != 1 {
			t.Errorf("after a failure: %v, %d searches", v, len(m.searches))
		}
		m.err, m.has = nil, []string{"sh"}
		time.Sleep(61 * time.Second)
		p.Wait(t.Context())
		if v := verdict(t, c, p, "a", "sh"); v != needs.Met {
			t.Errorf("a minute later: %v", v)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestProberAwaitsFetched looks for the programs of a skill that the catalog lists without its needs.
func TestProberAwaitsFetched(t *testing.T) {
	m := &machine{has: []string{"sh"}}
	c, p := open(t, m, map[string]string{"a": "", "b": "sh"})
	p.Wait(t.Context())
	fetched, err := c.Snapshot().Resolve("a")
	if err != nil {
		t.Fatal(err)
	}
	fetched.Needs = &core.Needs{Bins: []string{"gone", "sh"}}
	for range 3 {
		p.Await(t.Context(), fetched)
	}
	if judge := p.Program(fetched); judge == nil || judge("gone") != needs.Unmet || judge("sh") != needs.Met {
		t.Errorf("the programs of a fetched skill are not known")
	}
	if len(m.searches) != 2 {
		t.Errorf("searched %d times: %v", len(m.searches), m.searches)
	}
	fetched.Revision, fetched.Needs = "2", &core.Needs{Bins: []string{"other"}}
	p.Await(t.Context(), fetched) // the catalog has another revision
	if p.Program(fetched) != nil {
		t.Error("a skill that the catalog does not have any more is judged")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	fetched.Revision = ""
	p.Await(ended, fetched)
}
