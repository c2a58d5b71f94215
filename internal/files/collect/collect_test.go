package collect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// workspace makes a directory with files of these contents.
func workspace(t testing.TB, files map[string]string) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		write(t, dir, name, content)
	}
	root, err := os.OpenRoot(dir)
	check(t, err)
	t.Cleanup(func() { root.Close() })
	return root, dir
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	check(t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(t, os.WriteFile(path, []byte(content), 0o600))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func collect(t testing.TB, root *os.Root, spec Spec) Collection {
	t.Helper()
	c, err := Collect(t.Context(), Dir(root), spec)
	check(t, err)
	return c
}

// names joins the names of files.
func names(c Collection) string {
	var all []string
	for _, f := range c.Files {
		all = append(all, f.Name)
	}
	return strings.Join(all, " ")
}

// warned checks that there is one warning for each of the parts, in that order.
func warned(t testing.TB, c Collection, parts ...string) {
	t.Helper()
	ok := len(c.Warnings) == len(parts)
	for i := 0; ok && i < len(parts); i++ {
		ok = strings.Contains(c.Warnings[i].String(), parts[i])
	}
	if !ok {
		t.Errorf("warnings %q, want %q", c.Warnings, parts)
	}
}

func TestCollectFinds(t *testing.T) {
	root, _ := workspace(t, map[string]string{
		"out/a.txt": "a", "out/b.md": "b", "out/sub/c.txt": "c", "out/sub/deep/d.txt": "d", "out/.hidden": "h",
		"work/inputs/in.csv": "1,2\n", "work/w.txt": "w", "top.txt": "t", "out/[x].txt": "x", "out/$y": "y",
	})
	for _, tt := range []struct{ globs, want, warning string }{
		{"out/a.txt", "out/a.txt", ""},
		{"out/*.txt", "out/[x].txt out/a.txt", ""},
		{"out/**", "out/$y out/.hidden out/[x].txt out/a.txt out/b.md out/sub/c.txt out/sub/deep/d.txt", ""},
		{"$OUTPUT_DIR/**/*.txt", "out/[x].txt out/a.txt out/sub/c.txt out/sub/deep/d.txt", ""},
		{"out/*.txt out/a.txt ./out/a.txt out/** $OUTPUT_DIR/a.txt", "out/$y out/.hidden out/[x].txt out/a.txt out/b.md out/sub/c.txt out/sub/deep/d.txt", ""},
		{"inputs/*.csv", "work/inputs/in.csv", ""},
		{"*", "top.txt", ""},
		{"{out,work}/*.{txt,md}", "out/[x].txt out/a.txt out/b.md work/w.txt", ""},
		{`out/\[x\].txt`, "out/[x].txt", ""},
		{"out/$y", "out/$y", ""},
		{"**/d.txt work/w.txt", "out/sub/deep/d.txt work/w.txt", ""},
		{"*/sub/*", "out/sub/c.txt", ""},
		{"out/none/*", "", `"out/none/*": matches no file`},
		{"out/none.txt", "", `"out/none.txt": no such file`},
		{"out/a.txt/x", "", `"out/a.txt/x": no such file`},
		{"out/sub", "", `"out/sub": is a directory; out/sub/** matches all files in it`},
		{"$WORKSPACE_DIR", "", `".": is the workspace`},
		{"", "", ""},
	} {
		t.Run(tt.globs, func(t *testing.T) {
			c := collect(t, root, Spec{Globs: strings.Fields(tt.globs)})
			if got := names(c); got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
			if tt.warning == "" {
				warned(t, c)
			} else {
				warned(t, c, tt.warning)
			}
			for _, f := range c.Files {
				if f.Inlined || f.Content != "" || f.Truncated || !f.Text {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

func TestCollectInlines(t *testing.T) {
	long := strings.Repeat("äöü€", 20_000)
	root, _ := workspace(t, map[string]string{
		"out/a.txt": "hello\n", "out/bin.png": "\x89PNG\r\n\x1a\n\x00\x00", "out/blank.txt": " \n\t", "out/empty.json": "",
		"out/latin.csv": "caf\xe9,1\n", "out/late.txt": strings.Repeat("x", 5000) + "\x00", "out/long.txt": long,
	})
	c := collect(t, root, Spec{Globs: []string{"out/*"}, Inline: true})
	want := []File{
		{Name: "out/a.txt", MIME: "text/plain", Size: 6, Text: true, Content: "hello\n", Inlined: true},
		{Name: "out/bin.png", MIME: "image/png", Size: 10},
		{Name: "out/blank.txt", MIME: "text/plain", Size: 3, Text: true, Blank: true, Content: " \n\t", Inlined: true},
		{Name: "out/empty.json", MIME: "application/json", Text: true, Blank: true, Inlined: true},
		{Name: "out/late.txt", MIME: "text/plain", Size: 5001},
		{Name: "out/latin.csv", MIME: "text/csv", Size: 7},
		{Name: "out/long.txt", MIME: "text/plain", Size: int64(len(long)), Text: true, Content: long, Inlined: true},
	}
	if !reflect.DeepEqual(c.Files, want) {
		t.Errorf("got %.2000v", c.Files)
	}
	warned(t, c, `"out/late.txt": not inlined`, `"out/latin.csv": not inlined`)
	if ref := c.Files[0].Ref(); ref != "workspace://out/a.txt" {
		t.Errorf("ref %q", ref)
	}
}

func TestCollectCutsAtRunes(t *testing.T) {
	text := "a€" + strings.Repeat("ä€𝄞", 20_000)
	root, _ := workspace(t, map[string]string{"out/t.txt": text})
	for limit := int64(1); limit < 40; limit++ {
		for _, at := range []int64{limit, headBytes - 20 + limit, MaxPrimary - 20 + limit, int64(len(text)) - 20 + limit} {
			c := collect(t, root, Spec{Globs: []string{"out/t.txt"}, Inline: true, MaxFileBytes: at})
			f := c.Files[0]
			n := int64(len(f.Content))
			if !f.Inlined || !f.Text || !utf8.ValidString(f.Content) || !strings.HasPrefix(text, f.Content) ||
				n > at || n < min(at-3, f.Size) || f.Truncated != (n < f.Size) || f.Size != int64(len(text)) {
				t.Fatalf("limit %d: %d bytes, inlined %v, truncated %v", at, n, f.Inlined, f.Truncated)
			}
		}
	}
	c := collect(t, root, Spec{Globs: []string{"out/t.txt"}, Inline: true, MaxTotalBytes: 2})
	if f := c.Files[0]; f.Content != "a" || !f.Truncated {
		t.Errorf("half a rune: %+v", f)
	}
}

func TestCollectTotal(t *testing.T) {
	root, _ := workspace(t, map[string]string{"out/1": "12345", "out/2": "12345", "out/3": "12345", "out/4.bin": "\x00", "out/5": ""})
	c := collect(t, root, Spec{Globs: []string{"out/*"}, Inline: true, MaxTotalBytes: 8})
	var got []string
	for _, f := range c.Files {
		got = append(got, fmt.Sprintf("%s %q %v %v", f.Name, f.Content, f.Inlined, f.Truncated))
	}
	want := []string{
		`out/1 "12345" true false`, `out/2 "123" true true`, `out/3 "" false true`, `out/4.bin "" false false`, `out/5 "" true false`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	warned(t, c, `"max_total_bytes"`)
	if p, ok := Primary(c.Files); !ok || p.Name != "out/1" {
		t.Errorf("primary %+v", p)
	}
}

// TestCollectInlineCeiling asks for more than can be inlined.
func TestCollectInlineCeiling(t *testing.T) {
	root, dir := workspace(t, map[string]string{"out/a": "x"})
	f, err := os.OpenFile(filepath.Join(dir, "out", "a"), os.O_WRONLY, 0)
	check(t, err)
	line := []byte(strings.Repeat("x", 1<<20))
	for range 5 {
		_, err := f.Write(line)
		check(t, err)
	}
	check(t, f.Close())
	c := collect(t, root, Spec{Globs: []string{"out/a"}, Inline: true, MaxFileBytes: CeilingMaxFileBytes, MaxTotalBytes: CeilingMaxTotalBytes})
	if got := c.Files[0]; len(got.Content) != MaxInlineFile || !got.Truncated || got.Size != 5<<20 {
		t.Errorf("%d bytes of %d, truncated %v", len(got.Content), got.Size, got.Truncated)
	}
}

func TestCollectMaxFiles(t *testing.T) {
	files := map[string]string{}
	for i := range 250 {
		files[fmt.Sprintf("out/%03d", (i*37)%250)] = "x"
	}
	root, _ := workspace(t, files)
	for _, limit := range []int{1, 2, 99, 0, 249, 250, 251} {
		c := collect(t, root, Spec{Globs: []string{"out/*", "out/000"}, MaxFiles: limit})
		n := limit
		if n == 0 {
			n = DefaultMaxFiles
		}
		n = min(n, 250)
		if len(c.Files) != n || c.Files[0].Name != "out/000" || c.Files[n-1].Name != fmt.Sprintf("out/%03d", n-1) {
			t.Errorf("limit %d: %s", limit, names(c))
		}
		if n < 250 {
			warned(t, c, fmt.Sprintf("%d more files", 250-n))
		} else {
			warned(t, c)
		}
	}
}

func TestCollectErrors(t *testing.T) {
	root, _ := workspace(t, map[string]string{"out/a": "x"})
	many := make([]string, maxGlobs+1)
	for i := range many {
		many[i] = "out/a"
	}
	for name, tt := range map[string]struct {
		spec Spec
		want error
	}{
		"bad glob":      {Spec{Globs: []string{"out/a", "../x"}}, ErrPattern},
		"many globs":    {Spec{Globs: many}, ErrPattern},
		"many patterns": {Spec{Globs: []string{"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "x"}}, ErrPattern},
		"bad limit":     {Spec{MaxFiles: -1}, ErrSpec},
	} {
		c, err := Collect(t.Context(), Dir(root), tt.spec)
		if !errors.Is(err, tt.want) || c.Files != nil {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		if before := tt.spec.Check(); before == nil || err == nil || before.Error() != err.Error() {
			t.Errorf("%s: Check says %v, Collect %v", name, before, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, glob := range []string{"out/a", "out/*", "**"} {
		if _, err := Collect(ctx, Dir(root), Spec{Globs: []string{glob}}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled, %s: %v", glob, err)
		}
	}
	check(t, root.Close())
	if _, err := Collect(t.Context(), Dir(root), Spec{Globs: []string{"**"}}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestCollectDeep(t *testing.T) {
	root, dir := workspace(t, nil)
	deep := strings.Repeat("d/", maxDepth+10)
	write(t, dir, deep+"x.txt", "x")
	write(t, dir, strings.Repeat("d/", maxDepth-1)+"ok.txt", "x")
	c := collect(t, root, Spec{Globs: []string{"**/*.txt"}})
	if got, want := names(c), strings.Repeat("d/", maxDepth-1)+"ok.txt"; got != want {
		t.Errorf("got %s", got)
	}
	warned(t, c, "directories deep")
}

func TestWalkStops(t *testing.T) {
	root, _ := workspace(t, map[string]string{"out/a": "", "out/b": "", "out/c": ""})
	ps, _, err := parseGlobs([]string{"out/*"})
	check(t, err)
	for name, w := range map[string]*walk{
		"entries": {entries: maxEntries - 2},
		"work":    {work: maxWork - 1},
	} {
		w.tree, w.pats, w.limit, w.notes = Dir(root), ps, 10, &notes{}
		found, err := w.search(t.Context())
		if err != nil || len(found) != 1 || len(w.notes.warnings) != 1 || !strings.Contains(w.notes.warnings[0].Text, "stopped") {
			t.Errorf("%s: %q, %q, %v", name, found, w.notes.warnings, err)
		}
	}
}

func TestPrimary(t *testing.T) {
	text := func(name string, size int64) File {
		return File{Name: name, MIME: "text/plain", Size: size, Text: true}
	}
	blank := text("out/0", 5)
	blank.Blank = true
	for name, tt := range map[string]struct {
		files []File
		want  string
	}{
		"first by name":  {[]File{text("out/c", 1), text("out/b", 1)}, "out/b"},
		"by kind":        {[]File{{Name: "out/a.svg", MIME: "image/svg+xml", Size: 1, Text: true}, {Name: "out/b.csv", MIME: "text/csv", Size: 1, Text: true}, {Name: "out/report.txt", MIME: "text/plain", Size: 1, Text: true}}, "out/report.txt"},
		"images last":    {[]File{{Name: "out/a.svg", MIME: "image/svg+xml", Size: 1, Text: true}, {Name: "out/b.json", MIME: "application/json", Size: 1, Text: true}}, "out/b.json"},
		"not binary":     {[]File{{Name: "out/a", Size: 1}, text("out/b", 1)}, "out/b"},
		"not blank":      {[]File{blank, text("out/b", 1)}, "out/b"},
		"at most 32 KiB": {[]File{text("out/a", MaxPrimary+1), text("out/b", MaxPrimary)}, "out/b"},
		"none that fits": {[]File{blank, {Name: "x"}}, ""},
		"nothing":        {nil, ""},
	} {
		got, ok := Primary(tt.files)
		if got.Name != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}

func BenchmarkCollect(b *testing.B) {
	files := map[string]string{"out/sub/report.txt": "report"}
	for i := range 2000 {
		files[fmt.Sprintf("out/%04d.log", i)] = "line\n"
	}
	root, _ := workspace(b, files)
	for name, spec := range map[string]Spec{
		"one name":       {Globs: []string{"out/sub/report.txt"}, Inline: true},
		"other suffix":   {Globs: []string{"out/*.txt"}, Inline: true},
		"all, keep 20":   {Globs: []string{"out/**"}, MaxFiles: 20},
		"all, keep 2000": {Globs: []string{"out/**"}, MaxFiles: 2001, Inline: true},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Collect(b.Context(), Dir(root), spec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
