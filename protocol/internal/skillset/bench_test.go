package skillset_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// BenchmarkRefreshOne changes a file of one of 1,000 skills, and lists them again.
func BenchmarkRefreshOne(b *testing.B) {
	dir, old := b.TempDir(), time.Now().Add(-time.Hour)
	for i := range 1000 {
		name := fmt.Sprintf("skill-%d", i)
		for file, text := range map[string]string{
			"SKILL.md": "---\nname: " + name + "\ndescription: Does one thing of a thousand.\n---\n\nbody\n", "scripts/run.py": "print(1)\n",
			"scripts/lib/a.py": "a = 1\n", "references/one.md": "one\n", "references/two.md": "two\n", "assets/logo.svg": "<svg/>\n",
		} {
			file = filepath.Join(dir, name, file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
			if err := os.Chtimes(file, old, old); err != nil { // a file that changed just now is always read again
				b.Fatal(err)
			}
		}
	}
	source, err := source.Open(b.Context(), source.Dir(dir), source.Reading{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := skillset.Open(b.Context(), "", source)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	digest := s.Digest("ann")
	for i := 0; b.Loop(); i++ {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("skill-%d", i%1000), "scripts/run.py"), fmt.Appendf(nil, "print('%d')\n", i), 0o644); err != nil {
			b.Fatal(err)
		}
		if err := s.RefreshNear(b.Context()); err != nil {
			b.Fatal(err)
		}
		if now := s.Digest("ann"); now == digest && i > 0 {
			b.Fatal("the change is not seen")
		} else {
			digest = now
		}
	}
}
