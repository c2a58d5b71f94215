//go:build unix

package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// checkNoBlock fails the test if do blocks, as the opening of a pipe would.
func checkNoBlock(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("blocked")
	}
}

// hostile makes a workspace with everything that must not be read, besides
// out/ok.txt.
func hostile(t *testing.T) (root *os.Root, dir, secret string) {
	t.Helper()
	outside := t.TempDir()
	secret = filepath.Join(outside, "secret.txt")
	check(t, os.WriteFile(secret, []byte("SECRET"), 0o600))
	root, dir = workspace(t, map[string]string{"out/ok.txt": "ok", "work/inner.txt": "inner", "out/dir/x.txt": "x"})
	out := func(name string) string { return filepath.Join(dir, "out", name) }
	check(t, syscall.Mkfifo(out("fifo.txt"), 0o600))
	check(t, os.Symlink(secret, out("absolute.txt")))
	check(t, os.Symlink("../../"+filepath.Base(outside)+"/secret.txt", out("relative.txt")))
	check(t, os.Symlink("../work/inner.txt", out("inside.txt")))
	check(t, os.Symlink("ok.txt", out("near.txt")))
	check(t, os.Symlink("nowhere", out("dangling.txt")))
	check(t, os.Symlink("loop.txt", out("loop.txt")))
	check(t, os.Symlink(outside, out("outdir.txt")))
	check(t, os.Symlink("dir", out("linkdir")))
	check(t, os.Symlink("/dev/zero", out("zero.txt")))
	check(t, os.Link(secret, out("hard.txt")))
	check(t, os.Link(out("hard.txt"), out("hard2.txt")))
	listen(t, out("socket.txt"))
	return root, dir, secret
}

// listen makes a socket; its path is too long to bind directly.
func listen(t *testing.T, path string) {
	t.Helper()
	t.Chdir(filepath.Dir(path))
	l, err := net.Listen("unix", filepath.Base(path))
	check(t, err)
	t.Cleanup(func() { l.Close() })
}

func TestCollectHostile(t *testing.T) {
	root, _, _ := hostile(t)
	want := map[string]string{
		"fifo.txt": "named pipe", "socket.txt": "socket", "hard.txt": "3 hard links", "hard2.txt": "3 hard links",
		"absolute.txt": "symbolic link", "relative.txt": "symbolic link", "inside.txt": "symbolic link",
		"near.txt": "symbolic link", "dangling.txt": "symbolic link", "loop.txt": "symbolic link",
		"outdir.txt": "symbolic link", "zero.txt": "symbolic link",
	}
	checkNoBlock(t, func() {
		c := collect(t, root, Spec{Globs: []string{"out/*.txt"}, Inline: true})
		if names(c) != "out/ok.txt" || c.Files[0].Content != "ok" {
			t.Errorf("collected %+v", c.Files)
		}
		if len(c.Warnings) != len(want) {
			t.Errorf("%d warnings, want %d: %q", len(c.Warnings), len(want), c.Warnings)
		}
		for name, part := range want {
			one := collect(t, root, Spec{Globs: []string{"out/" + name}, Inline: true})
			if len(one.Files) != 0 {
				t.Errorf("%s: %+v", name, one.Files)
			}
			warned(t, one, part)
			if !strings.HasPrefix(one.Warnings[0].String(), fmt.Sprintf("%q", "out/"+name)) {
				t.Errorf("%s is not named: %q", name, one.Warnings)
			}
		}
		for _, glob := range []string{"out/linkdir/x.txt", "out/outdir.txt/secret.txt"} {
			c := collect(t, root, Spec{Globs: []string{glob}, Inline: true})
			if len(c.Files) != 0 {
				t.Errorf("%s: %+v", glob, c.Files)
			}
			warned(t, c, "symbolic link")
		}
	})
}

func TestOpenHostile(t *testing.T) {
	root, _, _ := hostile(t)
	checkNoBlock(t, func() {
		for name, want := range map[string]error{
			"out/fifo.txt": ErrIrregular, "out/socket.txt": ErrIrregular, "out/hard.txt": ErrIrregular,
			"out/absolute.txt": ErrIrregular, "out/relative.txt": ErrIrregular, "out/inside.txt": ErrIrregular,
			"out/near.txt": ErrIrregular, "out/dangling.txt": ErrIrregular, "out/loop.txt": ErrIrregular,
			"out/zero.txt": ErrIrregular, "out/linkdir/x.txt": ErrIrregular, "out/outdir.txt/secret.txt": ErrIrregular,
			"out": ErrIrregular, "out/ok.txt/x": ErrIrregular, "out/none": fs.ErrNotExist, "none/x": fs.ErrNotExist,
			"": ErrName, ".": ErrName, "..": ErrName, "../x": ErrName, "/etc/passwd": ErrName, "out/../out/ok.txt": ErrName,
			"out//ok.txt": ErrName, "out/": ErrName, "out/a\nb": ErrName, "out/\xff": ErrName, "out/\x00": ErrName,
			strings.Repeat("a/", 100) + "a": ErrName,
		} {
			if f, err := Open(Dir(root), name); !errors.Is(err, want) || f != nil && err != nil {
				t.Errorf("%.60q: %v, want %v", name, err, want)
			}
		}
	})
	f, err := Open(Dir(root), "out/ok.txt")
	check(t, err)
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil || string(content) != "ok" {
		t.Errorf("ReadAll: got %q, error %v, want %q", content, err, "ok")
	}
}

func TestCollectNames(t *testing.T) {
	root, dir := workspace(t, map[string]string{"out/ok.txt": "ok"})
	bad := []string{"new\nline.txt", "bell\a.txt", "esc\x1b[31m.txt", "sep\u2028.txt"}
	if err := os.WriteFile(filepath.Join(dir, "out", "inv\xff.txt"), nil, 0o600); err == nil { // some file systems refuse the name
		bad = append(bad, "inv\xff.txt")
	}
	for _, name := range bad {
		write(t, dir, "out/"+name, "x")
	}
	write(t, dir, "out/dir\n/x.txt", "x")
	c := collect(t, root, Spec{Globs: []string{"out/**"}, Inline: true})
	if names(c) != "out/ok.txt" || len(c.Warnings) != len(bad)+1 {
		t.Errorf("%q, warnings %q", names(c), c.Warnings)
	}
	for _, warning := range c.Warnings {
		w := warning.String()
		if strings.ContainsAny(w, "\n\a\x1b\u2028") || !strings.Contains(w, "invalid file name") {
			t.Errorf("warning %q", w)
		}
	}
}

func TestCollectManyWarnings(t *testing.T) {
	root, dir := workspace(t, map[string]string{"out/ok.txt": "ok"})
	for i := range 500 {
		check(t, os.Symlink("ok.txt", filepath.Join(dir, "out", fmt.Sprint("link", i))))
	}
	c := collect(t, root, Spec{Globs: []string{"out/*"}})
	if names(c) != "out/ok.txt" || len(c.Warnings) != maxNotes+1 || !strings.Contains(c.Warnings[maxNotes].String(), "480 more") {
		t.Errorf("%q, %d warnings %q", names(c), len(c.Warnings), c.Warnings)
	}
}

func TestCollectUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root reads everything: what is unreadable for others is collected")
	}
	root, dir := workspace(t, map[string]string{"out/a.txt": "a", "out/no.txt": "no", "out/shut/x.txt": "x"})
	check(t, os.Chmod(filepath.Join(dir, "out", "no.txt"), 0))
	check(t, os.Chmod(filepath.Join(dir, "out", "shut"), 0))
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "out", "shut"), 0o700) })
	c := collect(t, root, Spec{Globs: []string{"out/**"}, Inline: true})
	if os.Geteuid() == 0 {
		if names(c) != "out/a.txt out/no.txt out/shut/x.txt" {
			t.Errorf("names: got %q, want %q", names(c), "out/a.txt out/no.txt out/shut/x.txt")
		}
		return
	}
	if names(c) != "out/a.txt" {
		t.Errorf("collect: got %q, want %q", names(c), "out/a.txt")
	}
	warned(t, c, `"out/shut": not searched: permission denied`, `"out/no.txt": not collected: permission denied`)
}

// TestCollectSwaps replaces files and directories with links to the outside, and
// with pipes, while they are collected.
func TestCollectSwaps(t *testing.T) {
	root, dir, secret := hostile(t)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	swap := func(name string, make ...func(path string) error) {
		wg.Go(func() {
			path, spare := filepath.Join(dir, name), filepath.Join(dir, "spare-"+filepath.Base(name))
			for i := 0; ctx.Err() == nil; i++ {
				if err := make[i%len(make)](spare); err != nil {
					t.Error(err)
					return
				}
				os.RemoveAll(path)
				os.Rename(spare, path)
			}
		})
	}
	plain := func(path string) error { return os.WriteFile(path, []byte("plain"), 0o600) }
	fifo := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	hard := func(path string) error { return os.Link(secret, path) }
	link := func(path string) error { return os.Symlink(secret, path) }
	outside := func(path string) error { return os.Symlink(filepath.Dir(secret), path) }
	full := func(path string) error {
		if err := os.Mkdir(path, 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(path, "secret.txt"), []byte("decoy"), 0o600)
	}
	swap("out/f.txt", plain, link, plain, hard, plain, fifo)
	swap("out/swapdir", full, outside, full, fifo)
	checkNoBlock(t, func() {
		seen := 0
		for end, last := time.Now().Add(1500*time.Millisecond), time.Now().Add(time.Minute); time.Now().Before(end) || seen == 0 && time.Now().Before(last); {
			c := collect(t, root, Spec{Globs: []string{"out/f.txt", "out/swapdir/**", "out/*/secret.txt"}, Inline: true})
			for _, f := range c.Files {
				seen++
				if strings.Contains(f.Content, "SECRET") {
					t.Fatalf("%s: %q", f.Name, f.Content)
				}
			}
			if f, err := Open(Dir(root), "out/swapdir/secret.txt"); err == nil {
				content, _ := io.ReadAll(f)
				f.Close()
				if string(content) == "SECRET" {
					t.Fatal("opened the outside")
				}
			}
		}
		if seen == 0 {
			t.Error("nothing was ever collected: the test shows nothing")
		}
	})
}
