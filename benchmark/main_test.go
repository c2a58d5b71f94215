package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// Random conversations are the same for the same seed, and are reported by kind.
func TestRandomRun(t *testing.T) {
	dir := t.TempDir()
	page, data := filepath.Join(dir, "r.html"), filepath.Join(dir, "r.json")
	var outs [2]bytes.Buffer
	for i := range outs {
		if err := run(t.Context(), []string{"-random", "3", "-seed", "9", "-prices", "prefix-1", "-html", page, "-json", data}, &outs[i], &outs[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"3 conversations at prefix-1", "one-skill  new-skills  favourites", "eino-skill v0.7.36+reader", "r.html shows"} {
		if !strings.Contains(outs[0].String(), want) {
			t.Errorf("output lacks %q:\n%s", want, outs[0].String())
		}
	}
	if outs[0].String() != outs[1].String() {
		t.Error("the same seed gives other figures")
	}
	if text, err := os.ReadFile(page); err != nil || !bytes.Contains(text, []byte("Random conversations by kind")) {
		t.Errorf("HTML report: %v", err)
	}
	if text, err := os.ReadFile(data); err != nil || !json.Valid(text) || !bytes.Contains(text, []byte(`"hindsight"`)) {
		t.Errorf("JSON report: %v", err)
	}
	if err := run(t.Context(), []string{"-random", "1", "-dump", dir}, &outs[0], &outs[0]); err == nil {
		t.Error("-dump of random conversations does nothing and says nothing")
	}
}

// Families are reported by kind and share of prompts that name a skill.
func TestFamiliesRun(t *testing.T) {
	for _, policy := range []string{"need", "again", "reader"} {
		var out bytes.Buffer
		args := []string{"-random", "4", "-seed", "9", "-kinds", "desk2,longdocs", "-name", "0,0.8", "-noise", "0.2", "-policy", policy, "-prices", "prefix-1"}
		if err := run(t.Context(), args, &out, &out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"4 conversations at prefix-1", "no peer 0.5 % cheaper", "desk2 0%", "longdocs 80%"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("output lacks %q:\n%s", want, out.String())
			}
		}
	}
	for want, args := range map[string][]string{
		`no kind "desk9"`: {"-kinds", "desk9"},
		`"2" is no share`: {"-kinds", "all", "-name", "2"},
		`no policy "off"`: {"-kinds", "all", "-policy", "off"},
	} {
		if err := run(t.Context(), append(args, "-random", "1"), &bytes.Buffer{}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// The program writes what its flags say, and what it dumps reads back as what was
// sent.
func TestRun(t *testing.T) {
	s, dir := made(t, 2, 2), t.TempDir()
	var out bytes.Buffer
	args := []string{
		"-scenarios", s.scenarios, "-skills", s.skills, "-peers", "",
		"-dump", filepath.Join(dir, "dump"), "-json", filepath.Join(dir, "out", "r.json"), "-html", filepath.Join(dir, "out", "r.html"), "-prices", "prefix-1,gpt-5.6",
	}
	if err := run(t.Context(), args, &out, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"made-0 at prefix-1:", "made-1 at gpt-5.6:", "satchel-langchaingo adaptive/tool-result", "all scenarios: cost", benchVariable, "r.html shows"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "out", "r.json"))
	if err != nil || !json.Valid(data) {
		t.Errorf("JSON report: %v", err)
	}
	if page, err := os.ReadFile(filepath.Join(dir, "out", "r.html")); err != nil || !bytes.Contains(page, []byte("</html>")) {
		t.Errorf("HTML report: %v", err)
	}
	c, err := s.play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dumped, err := prompt.ReadDir(filepath.Join(dir, "dump"))
	if err != nil || len(dumped) != len(c.played) {
		t.Fatalf("%d captures, %v, want %d", len(dumped), err, len(c.played))
	}
	for _, want := range c.played {
		found := false
		for _, got := range dumped {
			if got.Scenario == want.Scenario && got.System == want.System && got.Variant == want.Variant {
				found = true
				for i := range want.Requests {
					if a, b := rendered(t, want.Requests[i]), rendered(t, got.Requests[i]); a != b {
						t.Errorf("%s %s %s: request %d was\n%s\nand is\n%s", want.Scenario, want.System, want.Variant, i, a, b)
					}
				}
			}
		}
		if !found {
			t.Errorf("%s %s %s was not dumped", want.Scenario, want.System, want.Variant)
		}
	}
	// Dumped requests can be measured as those of a peer.
	args = []string{"-scenarios", s.scenarios, "-skills", s.skills, "-peers", filepath.Join(dir, "dump"), "-prices", "prefix-1"}
	out.Reset()
	if err := run(t.Context(), args, &out, &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "satchel session/tool-result"); n != 2*2+1 {
		t.Errorf("the captures appear %d times:\n%s", n, out.String())
	}
}

func TestRunErrors(t *testing.T) {
	s := made(t, 3, 1)
	for want, args := range map[string][]string{
		"unexpected":        {"-skills", s.skills, "DIR"},
		"there is no price": {"-skills", s.skills, "-prices", "free"},
		"no such file":      {"-skills", s.skills, "-scenarios", s.scenarios, "-peers", filepath.Join(s.skills, "none")},
		"read scenarios":    {"-skills", s.skills, "-scenarios", filepath.Join(s.skills, "none")},
		"holds no file":     {"-skills", s.skills, "-scenarios", s.skills},
		"not found: skill":  {"-skills", t.TempDir(), "-scenarios", s.scenarios},
		"not defined":       {"-unknown"},
	} {
		err := run(t.Context(), args, &bytes.Buffer{}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", args, err, want)
		}
	}
}

// Playing twice gives the same requests, byte for byte.
func TestPlaysAreTheSame(t *testing.T) {
	s := made(t, 4, 3)
	first, err := s.play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(first.played, second.played) {
		t.Error("two plays differ")
	}
}

// What comes with the program is played where no variable names anything else.
func TestPlaces(t *testing.T) {
	here := suite{scenarios: "scenarios", skills: "skills"}
	for _, test := range []struct {
		bench, corpus string
		want          suite
	}{
		{"", "", here},
		{"b", "", here},
		{"", "c", here},
		{"b", "c", suite{filepath.Join("b", "scenarios"), filepath.Join("c", "anthropics-skills"), filepath.Join("b", "peers")}},
	} {
		t.Setenv(benchVariable, test.bench)
		t.Setenv(corpusVariable, test.corpus)
		if got := defaultSuite(); got != test.want {
			t.Errorf("%q and %q: %+v, want %+v", test.bench, test.corpus, got, test.want)
		}
	}
	t.Setenv(benchVariable, "")
	t.Chdir("..")
	if got, want := defaultSuite(), (suite{scenarios: filepath.Join("benchmark", "scenarios"), skills: filepath.Join("benchmark", "skills")}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A peer that cannot play a scenario, and a capture of another conversation of
// the same name, are left out and named.
func TestLeftOut(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"scenarios/one.json": `{"name":"one","comment":"?","turns":[{"user":"Read it.","steps":[{"tool":"read_file","args":{"path":"x"},"result":"y"}]}]}`,
		"peers/p/other.json": `{"scenario":"one","system":"p","variant":"v","texts":["Hi."],"messages":[{"role":"user","content":0}],"requests":[{"messages":[0]}]}`,
		"skills/README":      "none",
	} {
		write(t, filepath.Join(dir, filepath.FromSlash(file)), text)
	}
	var out, errs bytes.Buffer
	args := []string{"-scenarios", filepath.Join(dir, "scenarios"), "-skills", filepath.Join(dir, "skills"), "-peers", filepath.Join(dir, "peers")}
	if err := run(t.Context(), args, &out, &errs); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"play one through eino-skill (v0.7.36+filesystem): two tools are named \"read_file\"",
		"play one through eino-skill (v0.7.36+reader): two tools are named \"read_file\"",
		`one.json: field "comment" is not known and is left out`,
		"one of p (v) was captured from another conversation", "no captures",
	} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("errors lack %q:\n%s", want, errs.String())
		}
	}
	if strings.Contains(out.String(), "eino-skill") || !strings.Contains(out.String(), "satchel adaptive/tool-result") {
		t.Errorf("output:\n%s", out.String())
	}
}

// The frontier has a row for each caution and price that caches every prefix, and says the same each
// time.
func TestFrontier(t *testing.T) {
	var outs [2]bytes.Buffer
	for i := range outs {
		if err := run(t.Context(), []string{"-random", "2", "-seed", "9", "-frontier"}, &outs[i], &outs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if outs[0].String() != outs[1].String() {
		t.Errorf("two frontiers of one seed:\n%s\n%s", &outs[0], &outs[1])
	}
	if rows := strings.Count(outs[0].String(), "prefix-1"); rows != 2*(len(margins)+len(rentLimits)-1) {
		t.Errorf("%d rows:\n%s", rows, &outs[0])
	}
}
