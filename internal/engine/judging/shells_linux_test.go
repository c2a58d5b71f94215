package judging

import (
	"flag"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/testing/bypasstest"
	"github.com/satchel-go/satchel/permission"
)

var (
	texts = flag.Int("texts", 150, "how many texts that a list allows are given to each shell")
	seed  = flag.Uint64("seed", 1, "where the random texts begin")
)

// try gives a text that the list allows to every shell, and reports whether it
// is one.
func (r *shellRoom) try(tb testing.TB, text string) bool {
	var j Judge
	u := shell(text)
	u.Tool, u.Skill = permission.Tool{Name: "Bash"}, ""
	if j.decide(u, []List{{Skill: "a", Rules: Parse(bypasstest.TextList)}}).Outcome != Granted {
		return false
	}
	for _, sh := range r.shells {
		said, err := r.run(sh, text)
		if err != nil {
			tb.Fatal(err)
		}
		for _, what := range r.violations(tb, said) {
			tb.Errorf("%q is allowed, and %s %s: %s", text, filepath.Base(sh[0]), strings.Join(sh[1:], " "), what)
		}
	}
	return true
}

// TestShellRoom checks that each kind of violation is detected in every shell.
func TestShellRoom(t *testing.T) {
	room := newShellRoom(t)
	for _, sh := range room.shells {
		for text, misdeeds := range map[string]bool{
			"git a; only; X=1 npm x; cd w; echo a b; cat <&-": false, "echo ok > w/f 2>/dev/null": false, "echo )": false,
			"evil": true, "{ echo; evil >/dev/null 2>&1 & } 2>/dev/null": true, "(:; evil) &": true, "> f": true, "git b": true, "git": true,
			"only x": true, "npm": true, "X=1 Y=2 npm": true, "X=2 npm": true, "no-such-name": true,
		} {
			said, err := room.run(sh, text)
			if err != nil {
				t.Fatal(err)
			}
			if found := room.violations(t, said); (len(found) > 0) != misdeeds {
				t.Errorf("%q in %s: %q", text, sh, found)
			}
		}
	}
}

// TestShellsRunNothingElse gives shells random texts that a list allows.
func TestShellsRunNothingElse(t *testing.T) {
	room := newShellRoom(t)
	r := rand.New(rand.NewPCG(*seed, 4))
	known := slices.Sorted(maps.Values(bypasstest.Commands("evil x")))
	known = append(known, bypasstest.Allowed...)
	seen := map[string]bool{}
	made, named := 0, 0
	for ; len(seen) < *texts && made < 4000**texts; made++ {
		text := bypasstest.Text(r, 3)
		if made%3 == 0 {
			text = bypasstest.Mutate(r, known[r.IntN(len(known))])
		}
		if seen[text] || !room.try(t, text) {
			continue
		}
		seen[text] = true
		if strings.Contains(text, "evil") {
			named++
		}
	}
	t.Logf("%d texts made, %d run by each of %d shells, %d of them with the word", made, len(seen), len(room.shells), named)
	if len(seen) < *texts || named < *texts/20 {
		t.Error("too few")
	}
}

func FuzzShells(f *testing.F) {
	room := newShellRoom(f)
	r := rand.New(rand.NewPCG(5, 6))
	for _, text := range bypasstest.Commands("evil x") {
		f.Add(text)
	}
	for range 100 {
		f.Add(bypasstest.Text(r, 3))
	}
	f.Fuzz(func(t *testing.T, text string) { room.try(t, text) })
}
