package collect

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/satchel-go/satchel/internal/files/plainfile"
)

func TestCleanGlob(t *testing.T) {
	for _, tt := range []struct{ glob, want string }{
		{"out/*.txt", "out/*.txt"},
		{"./out//a/./b/", "out/a/b"},
		{".//out", "out"},
		{".", "."},
		{"**", "**"},
		{"$OUTPUT_DIR/x", "out/x"},
		{"${OUTPUT_DIR}/**", "out/**"},
		{"$OUTPUT_DIR", "out"},
		{"./$OUTPUT_DIR//x", "out/x"},
		{"$WORK_DIR/x", "work/x"},
		{"$OUTPUT_DIR/$WORK_DIR", "out/$WORK_DIR"}, // a file named $WORK_DIR
		{"${WORK_DIR}/inputs/x", "work/inputs/x"},
		{"$WORKSPACE_DIR/out/x", "out/x"},
		{"$WORKSPACE_DIR", "."},
		{"$WORKSPACE_DIR/inputs/x", "work/inputs/x"},
		{"$SKILLS_DIR/pdf/out.txt", "skills/pdf/out.txt"},
		{"${RUN_DIR}/x", "runs/x"},
		{"inputs", "work/inputs"},
		{"inputs/a.csv", "work/inputs/a.csv"},
		{"./inputs/*", "work/inputs/*"},
		{"inputs2/a", "inputs2/a"},
		{"work/inputs/a", "work/inputs/a"},
		{`\$x/y$z`, `\$x/y$z`},
		{"out/a$b.txt", "out/a$b.txt"},
		{"out/{a,b}.{csv,tsv}", "out/{a,b}.{csv,tsv}"},
		{"out/{a/b,c}", "out/{a/b,c}"},
		{"out/[a-c]?[!x].txt", "out/[a-c]?[!x].txt"},
		{"out/...", "out/..."},
		{"out/a..b", "out/a..b"},
		{"out/Größe 100%.txt", "out/Größe 100%.txt"},
		{`out/\[x\].txt`, `out/\[x\].txt`},
	} {
		t.Run(tt.glob, func(t *testing.T) {
			got, err := cleanGlob(tt.glob)
			if err != nil || got != tt.want {
				t.Fatalf("got %q, %v, want %q", got, err, tt.want)
			}
			if again, err := cleanGlob(got); err != nil || again != got {
				t.Errorf("cleaned again: %q, %v", again, err)
			}
		})
	}
}

func TestCleanGlobErrors(t *testing.T) {
	for _, tt := range []struct{ glob, part string }{
		{"", "empty"},
		{"/etc/passwd", "absolute"},
		{"//out", "absolute"},
		{"{/etc/passwd,out/x}", "absolute"},
		{"{,/etc}/passwd", "absolute"},
		{"..", `".."`},
		{"../x", `".."`},
		{"out/../../x", `".."`},
		{"out/..", `".."`},
		{"$OUTPUT_DIR/../../x", `".."`},
		{"$WORKSPACE_DIR/../x", `".."`},
		{"inputs/../../..", `".."`},
		{"out/{a,..}/x", `".."`},
		{"out/{.,x}{.,y}/x", `".."`},
		{`out/\.\./x`, `".."`},
		{`out/.\./x`, `".."`},
		{"$HOME/x", `"$HOME"`},
		{"$OUTPUT_DIRX/x", "unknown variable"},
		{"${OUTPUT_DIR}x/y", "unknown variable"},
		{"${OUTPUT_DIR/x", "unknown variable"},
		{"$", "unknown variable"},
		{"$(id)/x", "unknown variable"},
		{"$WORKSPACE_DIR/$HOME/x", "unknown variable"},
		{"{$OUTPUT_DIR,work}/x", "unknown variable"},
		{"out/a\x00b", "control"},
		{"out/a\nb", "control"},
		{"out/\xff", "UTF-8"},
		{strings.Repeat("a/", 513), "1026 bytes"},
		{"inputs/" + strings.Repeat("a/", 508) + "a", "bytes"},
		{strings.Repeat("a/", 64) + "a", "65 segments"},
		{"out/" + strings.Repeat("a", 256), "256 bytes"},
		{"out/" + strings.Repeat("*a", 33), "33 wildcards"},
		{"out/" + strings.Repeat("?", 33), "33 wildcards"},
		{strings.Repeat("**/a/", 5) + "x", "5 times **"},
		{strings.Repeat("{a,b}", 7), "more than 64"},
		{strings.Repeat("{a,b}", 16), "more than 64"},
		{strings.Repeat("{a,b}", 17), "17 opening braces"},
		{"{" + strings.Repeat("a,", 64) + "a}", "more than 64"},
		{"out/[a", ""},
		{"out/[]", ""},
		{"out/[a/b]", ""},
		{`out/a\`, ""},
		{`out\/a`, ""},
		{"out/{a", "{"},
		{"out/a}", "}"},
		{"out/{a}}", "}"},
	} {
		t.Run(tt.glob[:min(40, len(tt.glob))], func(t *testing.T) {
			got, err := cleanGlob(tt.glob)
			if !errors.Is(err, ErrPattern) || !strings.Contains(err.Error(), tt.part) || got != "" {
				t.Errorf("got %q, %v, want an error with %q", got, err, tt.part)
			}
			if err != nil && len(err.Error()) > 600 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
		})
	}
}

// match matches a glob with one path, segment by segment as a search does.
func match(t *testing.T, glob, path string) bool {
	t.Helper()
	ps, err := parseGlob(glob)
	if err != nil {
		t.Fatalf("%q: %v", glob, err)
	}
	all := patterns(ps)
	states := all.start()
	parts := strings.Split(path, "/")
	for i, part := range parts {
		next := all.step(states, part)
		if i == len(parts)-1 {
			return len(next.matched) > 0
		}
		states = next.below
	}
	return false
}

func TestMatch(t *testing.T) {
	paths := []string{
		"a", "out/a.txt", "out/b.md", "out/x/a.txt", "out/x/y/a.txt", "out/.hidden", "out/a*b", "out/[x].txt",
		"work/a.txt", "out/aXb", `out/a\b`, "out/é.txt",
	}
	for glob, want := range map[string][]string{
		"**":                      paths,
		"*":                       {"a"},
		"a":                       {"a"},
		"a/**":                    {"a"},
		"**/a.txt":                {"out/a.txt", "out/x/a.txt", "out/x/y/a.txt", "work/a.txt"},
		"out/**/a.txt":            {"out/a.txt", "out/x/a.txt", "out/x/y/a.txt"},
		"out/**/**/y/**":          {"out/x/y/a.txt"},
		"out/*/*":                 {"out/x/a.txt"},
		"out/**/*.{md,txt}":       {"out/a.txt", "out/b.md", "out/x/a.txt", "out/x/y/a.txt", "out/[x].txt", "out/é.txt"},
		"{out,work}/a.txt":        {"out/a.txt", "work/a.txt"},
		"out/{a.txt,x/{a,b}.txt}": {"out/a.txt", "out/x/a.txt"},
		`out/a\*b`:                {"out/a*b"},
		`out/a\\b`:                {`out/a\b`},
		"out/a?b":                 {"out/a*b", "out/aXb", `out/a\b`},
		"out/a[A-Z]b":             {"out/aXb"},
		"out/[[]x].txt":           {"out/[x].txt"},
		"out/[!a-z.[].txt":        {"out/é.txt"},
		"out/***.txt":             {"out/a.txt", "out/[x].txt", "out/é.txt"},
		"out/a**b":                {"out/a*b", "out/aXb", `out/a\b`},
		".":                       nil,
		"OUT/a.txt":               nil,
	} {
		t.Run(glob, func(t *testing.T) {
			var got []string
			for _, p := range paths {
				if match(t, glob, p) {
					got = append(got, p)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestMatchTime uses patterns that take exponential time if each wildcard or
// brace tries all possibilities.
func TestMatchTime(t *testing.T) {
	start := time.Now()
	name := strings.Repeat("a", 255)
	for _, glob := range []string{
		strings.Repeat("a*", 32) + "b",
		strings.Repeat("{a,a*}", 6) + "b",
		strings.Repeat("*a", 32) + "b",
		"**/a*/**/a*/**/a*/**/b",
	} {
		if match(t, glob, strings.Repeat(name+"/", 63)+name) || match(t, glob, name) {
			t.Errorf("%q matches", glob)
		}
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

// FuzzCleanGlob checks that a glob that is accepted is clean, stays inside, and
// matches what the library for such patterns says.
func FuzzCleanGlob(f *testing.F) {
	for _, glob := range []string{
		"out/*.txt", "$OUTPUT_DIR/**", "${WORK_DIR}/{a,b}/[a-c]?", "inputs/x", "../x", "{..,a}/b", `out/\[x\]`, "a***b", "**/**",
		"{{a,b},{c,d/e}}", "[{]", `{a\,b}`, "$WORKSPACE_DIR/inputs",
	} {
		f.Add(glob, "out/a.txt")
	}
	f.Fuzz(func(t *testing.T, glob, path string) {
		ps, err := parseGlob(glob)
		if err != nil {
			if !errors.Is(err, ErrPattern) || len(err.Error()) > 2000 {
				t.Fatalf("%q: %v", glob, err)
			}
			return
		}
		got, err := cleanText(glob)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := cleanGlob(got); err != nil || again != got {
			t.Fatalf("%q: %q cleaned again is %q, %v", glob, got, again, err)
		}
		for _, p := range ps {
			for _, s := range p {
				if s.kind == literal && (s.text == ".." || s.text == "." || s.text == "" || strings.ContainsAny(s.text, "/\x00")) {
					t.Fatalf("%q: literal %q", glob, s.text)
				}
			}
		}
		checkOracle(t, got, path)
	})
}

func checkOracle(t *testing.T, glob, path string) {
	if !fs.ValidPath(path) || path == "." || strings.Count(path, "/") >= maxDepth || plainfile.CheckElement(path) != nil || strings.Contains(glob, "***") || strings.ContainsAny(glob, "{}[\\") {
		return // the library reads these patterns differently, or takes exponential time
	}
	if got, want := match(t, glob, path), doublestar.MatchUnvalidated(glob, path); got != want {
		t.Fatalf("%q on %q: %v, want %v", glob, path, got, want)
	}
}

func cleanGlob(glob string) (string, error) {
	if _, err := parseGlob(glob); err != nil {
		return "", err
	}
	return cleanText(glob)
}
