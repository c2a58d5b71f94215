package main

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/satcheltest"
)

func TestList(t *testing.T) {
	dir := skillDir(t, map[string]string{
		"b/SKILL.md":   "---\nname: b\ndescription: Second & last.\ndisable-model-invocation: true\n---\n",
		"a/SKILL.md":   "---\nname: a\ndescription: First.\n---\n",
		"a/one.md":     "x",
		"a/two.txt":    "x",
		"bad/SKILL.md": "---\nname: bad\n---\n",
	})
	got := program(t, nil, "", "list", "--json", dir)
	root := filepath.Base(dir)
	want := `{"name":"a","description":"First.","location":"` + dir + `/a/SKILL.md","docs":2,"hidden":false,"scope":"host","source":"` + root + `","qualified":"host:a","shadowed":false}
{"name":"b","description":"Second & last.","location":"` + dir + `/b/SKILL.md","docs":0,"hidden":true,"scope":"host","source":"` + root + `","qualified":"host:b","shadowed":false}
`
	if got.code != 0 || got.out != want {
		t.Errorf("code %d, out:\n%s\nwant:\n%s", got.code, got.out, want)
	}
	if !strings.Contains(got.err, "bad/SKILL.md") {
		t.Errorf("err = %q", got.err)
	}
	if want := "2 skills, 1 in the overview, 1 hidden\n"; !strings.HasSuffix(got.err, want) {
		t.Errorf("err = %q, want %q at its end", got.err, want)
	}
	got = program(t, nil, "", "list", dir)
	if want := "NAME  DOCS  DESCRIPTION\na     2     First.\nb     0     (hidden from the model) Second & last.\n2 skills, 1 in the overview, 1 hidden\n"; got.out != want {
		t.Errorf("out = %q, want %q", got.out, want)
	}
	if got := program(t, nil, "", "list", "--names", dir); got.out != "a\nb\n" {
		t.Errorf("names = %q", got.out)
	}
	if got := program(t, nil, "", "list", dir+"/missing"); got.code != cli.ExitFailed || got.out != "" {
		t.Errorf("missing directory: code %d, out %q", got.code, got.out)
	}
	got = program(t, map[string]string{"SKILLS_ROOT": dir}, "", "list", "--names")
	if got.out != "a\nb\n" {
		t.Errorf("SKILLS_ROOT: %q, %s", got.out, got.err)
	}
}

// Of very many findings the first are printed and the others counted.
func TestListCountsFindings(t *testing.T) {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("bad%d/SKILL.md", i)] = "---\nname: bad\n---\n"
	}
	got := program(t, nil, "", "list", skillDir(t, files))
	if n := strings.Count(got.err, "\n"); n != cli.MaxFindings+1 || !strings.Contains(got.err, "and 80 more; satchel inspect DIR") {
		t.Errorf("%d lines:\n%s", n, got.err)
	}
}

// With more skills than the overview has room for, the list says how many it names.
func TestListSaysWhatTheOverviewHolds(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("s%d/SKILL.md", i)] = fmt.Sprintf("---\nname: s%d\ndescription: %s\n---\n", i, strings.Repeat("Use it then. ", 20))
	}
	got := program(t, nil, "", "list", "--names", skillDir(t, files))
	var all, named, short int
	if _, err := fmt.Sscanf(got.err, "%d skills, %d in the overview (%d by name only)", &all, &named, &short); err != nil || all != 300 || named != 300 || short < 150 {
		t.Errorf("err = %q (%v)", got.err, err)
	}
}

// The lock file of the common installer says where a skill comes from, and --locked holds
// its skills to it.
func TestListReadsTheInstallersLock(t *testing.T) {
	text := described("pdf", "Reads PDF files.")
	sum := sha256.Sum256([]byte("SKILL.md" + text))
	project := skillDir(t, map[string]string{
		".agents/skills/pdf/SKILL.md": text,
		"skills-lock.json":            fmt.Sprintf(`{"version":1,"skills":{"pdf":{"source":"owner/repo","sourceType":"github","computedHash":"%x"}}}`, sum),
	})
	dir := filepath.Join(project, ".agents", "skills")
	got := program(t, nil, "", "list", "--locked", "--json", dir)
	if got.code != cli.ExitDone || !strings.Contains(got.out, `"installed_from":"owner/repo"`) {
		t.Errorf("%+v", got)
	}
	overwrite(t, filepath.Join(dir, "pdf", "SKILL.md"), text+"More.\n")
	if got := program(t, nil, "", "list", "--locked", dir); got.code != cli.ExitFailed || got.err != "skill \"pdf\" is not what skills-lock.json has\n" {
		t.Errorf("an edited skill: %+v", got)
	}
}

// What list counts and prints as the overview is what chat sends, with search too.
func TestListHasTheOverviewOfChat(t *testing.T) {
	for n, want := range map[int]string{
		3:   "3 skills, 3 in the overview",
		900: " found by skill_search",
	} {
		files := map[string]string{}
		for i := range n {
			name := fmt.Sprintf("skill-of-a-longer-name-%d", i)
			files[name+"/SKILL.md"] = described(name, strings.Repeat("Reads files of a kind. ", 12))
		}
		dir := skillDir(t, files)
		sent := converse(t, satcheltest.Plan(satcheltest.Turn{Answer: "done"}), "", "chat", "--skills", dir, "hi")
		got := program(t, nil, "", "list", "--overview", dir)
		if len(sent.requests) != 1 || sent.requests[0].Messages[0].Text+"\n" != got.out || !strings.Contains(got.err, want) {
			t.Errorf("%d skills: list --overview prints %q…, %s; chat sends %q…", n, got.out[:min(len(got.out), 300)], got.err, sent.requests[0].Messages[0].Text[:300])
		}
		if named := strings.Count(got.out, "skill-of-a-longer-name-"); n == 900 && (named < 300 || !strings.Contains(got.err, fmt.Sprintf("900 skills, %d in the overview (%d by name only), %d found", named, named, 900-named))) {
			t.Errorf("%d of %d skills are named: %s", named, n, got.err)
		}
	}
}
