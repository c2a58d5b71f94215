package catalog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
)

func mustPrint(t *testing.T, c *Catalog) string {
	t.Helper()
	sum, err := c.Fingerprint(t.Context(), "pdf")
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestFingerprintOfDir(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	same := func(file, text string) func(string) error { // size and modification time stay the same
		return func(dir string) error {
			full := filepath.Join(dir, file)
			info, err := os.Stat(full)
			return errors.Join(err, os.WriteFile(full, []byte(text), 0), os.Chtimes(full, time.Time{}, info.ModTime()))
		}
	}
	for _, tt := range []struct {
		name    string
		change  func(dir string) error
		differs bool
	}{
		{"nothing", func(string) error { return nil }, false},
		{"size", func(d string) error {
			return errors.Join(os.WriteFile(d+"/pdf/x.py", []byte("longer"), 0), os.Chtimes(d+"/pdf/x.py", old, old))
		}, true},
		{"time", func(d string) error { return os.Chtimes(d+"/pdf/x.py", old, old.Add(time.Millisecond)) }, true},
		{"exec bit", func(d string) error { return os.Chmod(d+"/pdf/x.py", 0o744) }, true},
		{"name", func(d string) error { return os.Rename(d+"/pdf/x.py", d+"/pdf/y.py") }, true},
		{"added", func(d string) error { return os.WriteFile(d+"/pdf/z.py", nil, 0o600) }, true},
		{"removed", func(d string) error { return os.Remove(d + "/pdf/x.py") }, true},
		{"written now", func(d string) error { return os.WriteFile(d+"/pdf/x.py", []byte("two"), 0) }, true},
		{"SKILL.md with its size and time", same("pdf/SKILL.md", skillText("pdf", "Reads.", "Two.\n")), true},
		{"file without time", same("pdf/nix.py", "two"), true},
		{"file of another skill", func(d string) error { return os.WriteFile(d+"/other.py", []byte("two"), 0o600) }, false},
		{"access", func(d string) error { return os.Chtimes(d+"/pdf/x.py", time.Now(), time.Time{}) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads.", "One.\n"), "pdf/x.py": "one", "pdf/nix.py": "one"})
			if err := os.Chtimes(filepath.Join(dir, "pdf/nix.py"), old, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			c := mustOpen(t, []source.Root{source.Dir(dir)})
			before := mustPrint(t, c)
			if err := tt.change(dir); err != nil {
				t.Fatal(err)
			}
			if after := mustPrint(t, c); (before != after) != tt.differs {
				t.Errorf("%s, then %s", before, after)
			}
		})
	}
}

// A new file may change without a new modification time, because file systems keep times in steps.
func TestFingerprintOfYoungFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads.", ""), "pdf/x.py": "one"})
	c := mustOpen(t, []source.Root{source.Dir(dir)})
	now := time.Now().Add(time.Minute) // the file counts as recently changed during the whole test
	var sums []string
	for _, text := range []string{"one", "one", "two"} {
		full := filepath.Join(dir, "pdf/x.py")
		if err := errors.Join(os.WriteFile(full, []byte(text), 0), os.Chtimes(full, now, now)); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, mustPrint(t, c))
	}
	if sums[0] != sums[1] || sums[1] == sums[2] {
		t.Errorf("fingerprints %q", sums)
	}
}

// The content of files without times is read. Of others only SKILL.md is read.
func TestFingerprintOfFS(t *testing.T) {
	files := mapFS(map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads.", ""), "pdf/x.py": "one", "pdf/timed.py": "one"})
	files["pdf/timed.py"].ModTime = time.Now().Add(-time.Hour)
	fsys := countingFS{files, map[string]int{}}
	c := mustOpen(t, []source.Root{source.FS("f", fsys)})
	clear(fsys.opened)
	before := mustPrint(t, c)
	if fsys.opened["pdf/x.py"] == 0 || fsys.opened["pdf/timed.py"] != 0 {
		t.Errorf("opened %v", fsys.opened)
	}
	files["pdf/x.py"] = &fstest.MapFile{Data: []byte("two")}
	if mustPrint(t, c) == before {
		t.Error("an edit does not show")
	}
	files["pdf/x.py"] = &fstest.MapFile{Data: []byte("one"), Mode: 0o755}
	if mustPrint(t, c) == before {
		t.Error("a mode does not show")
	}
	files["pdf/x.py"] = &fstest.MapFile{Data: []byte("one")}
	if mustPrint(t, c) != before {
		t.Error("the same files have another fingerprint")
	}
}

func TestFingerprintErrors(t *testing.T) {
	c := mustOpen(t, []source.Root{source.FS("f", mapFS(map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads.", "")}))})
	if _, err := c.Fingerprint(t.Context(), "doc"); !errors.Is(err, ErrUnknownSkill) {
		t.Errorf("unknown: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Fingerprint(ctx, "pdf"); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}

func TestOpenFile(t *testing.T) {
	files := map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads.", ""), "pdf/big.bin": strings.Repeat("x", 2000), ".env": "x"}
	dir := t.TempDir()
	write(t, dir, files)
	for kind, root := range map[string]source.Root{"Dir": source.Dir(dir), "FS": source.FS("f", mapFS(files))} {
		t.Run(kind, func(t *testing.T) {
			c := mustOpen(t, []source.Root{root}, WithReading(source.Reading{MaxReadBytes: 1000}))
			f, err := c.OpenFile(t.Context(), "pdf", "big.bin")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if data, err := io.ReadAll(f); err != nil || string(data) != files["pdf/big.bin"] {
				t.Errorf("%d bytes, %v", len(data), err)
			}
			for file, want := range map[string]error{"../.env": ErrPath, "/etc/hosts": ErrPath, "nope": fs.ErrNotExist, ".": scan.ErrNotRegular} {
				if f, err := c.OpenFile(t.Context(), "pdf", file); !errors.Is(err, want) || f != nil {
					t.Errorf("%s: %v, %v", file, f, err)
				}
			}
		})
	}
}
