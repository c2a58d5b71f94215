package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// made is a suite of skills and scenarios that are made up, so that the tests
// that need no corpus have something to play.
func made(t testing.TB, seed uint64, scenarios int) suite {
	t.Helper()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(seed, 1))
	var skills []string
	docs := map[string][]string{}
	for i := range 6 {
		name := fmt.Sprintf("skill-%c", 'a'+i)
		skills = append(skills, name)
		write(t, filepath.Join(dir, "skills", name, "SKILL.md"),
			fmt.Sprintf("---\nname: %s\ndescription: Says how to do the work of %s, step by step, whenever somebody asks for it.\n---\n%s", name, name, rules(name, 20+r.IntN(200))))
		for j := range r.IntN(4) {
			doc := fmt.Sprintf("docs/part-%d.md", j)
			docs[name] = append(docs[name], doc)
			write(t, filepath.Join(dir, "skills", name, filepath.FromSlash(doc)), rules(name+" part "+fmt.Sprint(j), 10+r.IntN(150)))
		}
	}
	for i := range scenarios {
		name := fmt.Sprintf("made-%d", i)
		write(t, filepath.Join(dir, "scenarios", name+".json"), madeScenario(t, r, name, skills, docs))
	}
	return suite{scenarios: filepath.Join(dir, "scenarios"), skills: filepath.Join(dir, "skills")}
}

// rules is a text of n lines of which no two are the same.
func rules(of string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Rules of %s\n\n", of)
	for i := range n {
		fmt.Fprintf(&b, "%d. Check item %d of %s, and write down who owns it.\n", i+1, (i*37)%101, of)
	}
	return b.String()
}

func madeScenario(t testing.TB, r *rand.Rand, name string, skills []string, docs map[string][]string) string {
	t.Helper()
	var turns []any
	facts := 0
	for turn := range 1 + r.IntN(8) {
		steps := []any{}
		for range r.IntN(5) {
			if r.IntN(2) == 0 {
				skill := skills[r.IntN(len(skills))]
				step := map[string]any{"need": skill}
				if all := docs[skill]; len(all) > 0 && r.IntN(2) == 0 {
					step["docs"] = all[:1+r.IntN(len(all))]
				}
				steps = append(steps, step)
				continue
			}
			facts++
			steps = append(steps, map[string]any{
				"tool": []string{"lookup", "read_table"}[r.IntN(2)], "args": map[string]any{"query": fmt.Sprint("fact ", facts)},
				"result": strings.Repeat(fmt.Sprintf("Fact %d was confirmed on day %d. ", facts, facts*7%31), 1+r.IntN(40)),
			})
		}
		steps = append(steps, map[string]any{"say": fmt.Sprintf("Part %d is done.", turn)})
		turns = append(turns, map[string]any{"user": fmt.Sprintf("Please do part %d.", turn), "steps": steps})
	}
	text, err := json.Marshal(map[string]any{"name": name, "instruction": "You help with {the} work of a <small> team.", "turns": turns})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// own is the suite that comes with the program.
func own(t testing.TB) suite {
	t.Helper()
	return suite{scenarios: "scenarios", skills: "skills"}
}

// corpus is the suite whose figures are published: it needs the scenarios, their
// captures and the skills that these were made with.
func corpus(t testing.TB) suite {
	t.Helper()
	for _, name := range []string{benchVariable, corpusVariable} {
		if os.Getenv(name) == "" {
			t.Skip(name + " is not set: the published figures are not checked")
		}
	}
	return defaultSuite()
}
