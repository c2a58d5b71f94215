package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"

	"github.com/satchel-go/satchel/skillmd"
)

// A root without skills is an error of Ready, a finding and one line of the log, whatever the
// reason.
func TestReady(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{
		"good/pdf/SKILL.md":                 skillText("pdf", "Reads PDF.", ""),
		"broken/a/SKILL.md":                 "no front matter",
		"broken/b/SKILL.md":                 "---\nname: b\n---\n",
		"plug/.claude-plugin/plugin.json":   `{"name":"plug"}`,
		"project/.claude/skills/x/SKILL.md": skillText("x", "Of a project.", ""),
		"folder/a/SKILL.md/x":               "",
	})
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	for _, dir := range []string{"empty", "dead"} {
		if err := os.Mkdir(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		symlink(t, to, at(name))
	}
	link(at("gone"), "lost")
	link("../nowhere", "dead/link")
	link("circle", "dead/circle")
	archived := func(address string) source.Root {
		return source.Archive(address, source.ArchiveOptions{CacheDir: at("cache")})
	}
	tests := []struct {
		name string
		root source.Root
		code skillmd.Code
		text string
	}{
		{"empty", source.Dir(at("empty")), CodeNoSkills, "no skills found in "},
		{"broken", source.Dir(at("broken")), "frontmatter-missing", ""},
		{"plugin without skills", source.Plugin(at("plug")), CodeSourceFailed, "the plugin has no folder skills/"},
		{"untrusted", source.Discover(at("project"), environment("", ""))[0], CodeUntrusted, "are not trusted"},
		{"a link to nowhere", source.Dir(at("lost")).Optional(), CodeSourceFailed, "leads nowhere"},
		{"http", archived("http://example.com/x.zip"), CodeSourceFailed, "skills cannot be listed: archive"},
		{"dead address", archived("https://127.0.0.1:1/x.zip"), CodeSourceFailed, "skills cannot be listed: "},
		{"a folder as SKILL.md", source.Dir(at("folder")), CodeUnreadable, "not a regular file"},
		{"dead links", source.Dir(at("dead")), CodeNoSkills, "no skills found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			logger := WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))
			c := mustOpen(t, []source.Root{tt.root}, logger)
			err := c.Ready()
			e, ok := errors.AsType[*RootError](err)
			if !ok || !errors.Is(err, ErrNoSkills) || e.Finding.Code != tt.code || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("Ready is %v", err)
			}
			if strings.Count(log.String(), "code="+string(tt.code)) != max(1, strings.Count(tt.name, "broken")) {
				t.Errorf("log:\n%s", log.String())
			}
			before := log.Len()
			if _, err := c.Refresh(t.Context()); err != nil || log.Len() != before {
				t.Errorf("a Refresh logs again: %v, %s", err, log.String()[before:])
			}
			err = mustOpen(t, []source.Root{tt.root, source.Dir(at("good"))}).Ready()
			if _, ok := errors.AsType[*RootError](err); !ok || errors.Is(err, ErrNoSkills) {
				t.Errorf("beside a good root Ready is %v", err)
			}
		})
	}
	for _, roots := range [][]source.Root{nil, {source.Dir(at("good"))}, {source.Dir(at("none")).Optional()}, {source.Dir(at("empty")).Optional(), source.Dir(at("good"))}} {
		if err := mustOpen(t, roots).Ready(); err != nil {
			t.Errorf("%v: Ready is %v", roots, err)
		}
	}
}

// Links that lead nowhere are findings, one each below the root, and one a folder deeper.
func TestDeadLinksAreTold(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{"s/pdf/SKILL.md": skillText("pdf", "Reads PDF.", ""), "s/more/xls/SKILL.md": skillText("xls", "Reads tables.", ""), "s/toml/skill.toml": "x", "s/far/note.txt": "x"})
	for name, to := range map[string]string{
		"s/one": "../gone", "s/two": "../via", "via": "gone", "s/circle": "circle", "s/more/deep": "xls/gone", "s/far/abs": filepath.ToSlash(base) + "/gone", "s/file": "pdf/SKILL.md",
	} {
		symlink(t, filepath.FromSlash(to), filepath.Join(base, filepath.FromSlash(name)))
	}
	c := mustOpen(t, []source.Root{source.Dir(filepath.Join(base, "s")).Named("s")})
	tree, err := source.Open(t.Context(), source.Dir(filepath.Join(base, "s")), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	listing, err := tree.Scan(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for kind, found := range map[string][]skillmd.Diagnostic{"catalog": c.Snapshot().Diagnostics(), "source": listing.Diagnostics} {
		told := map[string]string{}
		for _, d := range found {
			told[filepath.Base(d.File)] += string(d.Code) + ": " + d.Message
		}
		want := map[string]string{
			"deep": "link-not-followed: the link to " + filepath.FromSlash("xls/gone") + " is not followed: nothing is there; remove the link, or put back what it leads to",
			"abs":  "link-not-followed: the link to " + filepath.Join(base, "gone") + " is not followed: nothing is there; remove the link, or put back what it leads to",
			"toml": "skill-file-missing: there is a skill.toml and no SKILL.md: it is no skill without one",
		}
		if kind == "catalog" {
			for _, name := range []string{"one", "two", "circle"} {
				if !strings.HasPrefix(told[name], "link-not-followed: the link to ") {
					t.Errorf("%s is told as %q", name, told[name])
				}
			}
		} else if len(told) < 3 {
			t.Errorf("a source tells %q", told)
		}
		for name, text := range want {
			if told[name] != text {
				t.Errorf("%s: %s is told as %q", kind, name, told[name])
			}
		}
		if told["file"] != "" {
			t.Errorf("a link to a file is told as %q", told["file"])
		}
	}
}

// A root that disappears gets one diagnostic, keeps its skills, and hides no change of another.
func TestLostRoot(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{"a/pdf/SKILL.md": skillText("pdf", "Reads PDF.", ""), "b/xls/SKILL.md": skillText("xls", "Reads tables.", "")})
	var log bytes.Buffer
	logger := WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	c := mustOpen(t, []source.Root{source.Dir(filepath.Join(base, "a")), source.Dir(filepath.Join(base, "b"))}, logger)
	if err := os.Rename(filepath.Join(base, "a"), filepath.Join(base, "c")); err != nil {
		t.Fatal(err)
	}
	write(t, base, map[string]string{"b/new/SKILL.md": skillText("new", "Is new.", "")})
	for range 3 {
		s, err := c.Refresh(t.Context())
		if !errors.Is(err, fs.ErrNotExist) || isUnreported(err) {
			t.Errorf("Refresh is %v", err)
		}
		same(t, "skills", []string{"new", "pdf", "xls"}, called(s))
	}
	if ready := c.Ready(); !errors.Is(ready, fs.ErrNotExist) || errors.Is(ready, ErrNoSkills) {
		t.Errorf("Ready is %v", ready)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
	if err := os.Rename(filepath.Join(base, "c"), filepath.Join(base, "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Refresh(t.Context()); err != nil || c.Ready() != nil {
		t.Errorf("when it is back: %v, %v", err, c.Ready())
	}
}

// Broken skills of an optional root are an error of Ready. The catalog still has the skills of its
// other roots.
func TestOptionalRoots(t *testing.T) {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	write(t, base, map[string]string{
		"good/pdf/SKILL.md": skillText("pdf", "Reads PDF.", ""), "far/x/SKILL.md": skillText("x", "Is elsewhere.", ""),
		"dead/note.txt": "", "out/.git/HEAD": "", "file": "", "toml/a/skill.toml": "", "upper/a/Skill.md": skillText("a", "Is spelled otherwise.", ""),
	})
	for name, to := range map[string]string{"dead/x": "../nowhere", "out/x": at("far/x"), "loop": "loop"} {
		symlink(t, to, at(name))
	}
	for name, want := range map[string]string{
		"dead": "no skills found in ", "out": "no skills found in ", "toml": "no skills found in ", "upper": "the file must be called SKILL.md",
		"loop": "leads in a circle; remove it: ", "file/x": "skills cannot be listed: ", "file": "skills cannot be listed: ",
	} {
		var log bytes.Buffer
		logger := WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))
		c := mustOpen(t, []source.Root{source.Dir(at(name)).Optional(), source.Dir(at("good"))}, logger, WithReading(source.Reading{Mode: skillmd.Strict}))
		err := c.Ready()
		if _, ok := errors.AsType[*RootError](err); !ok || errors.Is(err, ErrNoSkills) || !strings.Contains(err.Error(), want) || !strings.Contains(log.String(), want) {
			t.Errorf("%s: Ready is %v; log:\n%s", name, err, log.String())
		}
		if _, ok := c.Snapshot().Skill("pdf"); !ok {
			t.Errorf("%s hides a skill of another root", name)
		}
		before := log.Len()
		if _, err := c.Refresh(t.Context()); isUnreported(err) || log.Len() != before {
			t.Errorf("%s: Refresh is %v, and logs %s", name, err, log.String()[before:])
		}
	}
}

// Links that lead nowhere are reported in a folder with any number of links.
func TestDeadLinkAmongMany(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{"s/d/keep/SKILL.md": skillText("keep", "Stays.", "")})
	for i := range 100 {
		name, to := fmt.Sprintf("a%02d", i), "keep/SKILL.md"
		if i >= 90 {
			to = "gone"
		}
		symlink(t, filepath.FromSlash(to), filepath.Join(base, "s", "d", name))
	}
	found := mustOpen(t, []source.Root{source.Dir(filepath.Join(base, "s")).Named("s")}).Snapshot().Diagnostics()
	if len(found) != 1 || filepath.Base(found[0].File) != "a90" || found[0].Code != scan.CodeLink || !strings.HasSuffix(found[0].Message, "put back what it leads to (9 more links here lead nowhere)") {
		t.Errorf("found %v", found)
	}
}

// The error of a root that is a broken link names the target of the link.
func TestRootIsALostLink(t *testing.T) {
	base := t.TempDir()
	for name, to := range map[string]string{"dead": "gone", "via": "dead", "circle": "circle"} {
		symlink(t, to, filepath.Join(base, name))
	}
	for name, want := range map[string]string{
		"dead": "the link to gone leads nowhere; remove it, or put back what it leads to: ", "via": "the link to dead leads nowhere; ",
		"dead/below": "the link to gone leads nowhere; ", "circle": "the link to circle leads in a circle; remove it: ",
	} {
		_, err := Open(t.Context(), []source.Root{source.Dir(filepath.Join(base, filepath.FromSlash(name)))})
		if err == nil || !strings.Contains(err.Error(), want) || name != "circle" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
