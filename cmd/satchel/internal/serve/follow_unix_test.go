//go:build unix

package serve

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/protocol"
)

// reported is what was written to standard error.
type reported struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *reported) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *reported) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// A finding is reported once, even if the server looks again many times.
func TestFindingsAreReportedOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: pdf\ndescription: Reads.\n---\nRead.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := source.Open(t.Context(), source.Dir(dir), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	skills, err := protocol.Open(t.Context(), protocol.WithSkills(source))
	if err != nil {
		t.Fatal(err)
	}
	defer skills.Close(t.Context())
	hangups, out := make(chan os.Signal), &reported{}
	following := follow(skills, hangups, out)
	for range 3 {
		hangups <- syscall.SIGHUP // hangups is unbuffered, so follow has handled the signal before
	}
	for _, broken := range []string{"one", "two"} {
		at := filepath.Join(dir, broken)
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "SKILL.md"), []byte("no front matter\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); !strings.Contains(out.String(), broken+"/SKILL.md") && time.Now().Before(deadline); {
			hangups <- syscall.SIGHUP
		}
	}
	for range 3 {
		hangups <- syscall.SIGHUP
	}
	if err := following.Close(); err != nil {
		t.Fatal(err)
	}
	for _, broken := range []string{"one", "two"} {
		if n := strings.Count(out.String(), broken+"/SKILL.md"); n != 1 {
			t.Errorf("%s is reported %d times:\n%s", broken, n, out.String())
		}
	}
}
