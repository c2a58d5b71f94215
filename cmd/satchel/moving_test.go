package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// A loaded skill is the one that was loaded, whatever else comes or goes: neither its name
// nor what is read, run and unloaded by it becomes another one.
func TestLoadedSkillsWhileOthersComeAndGo(t *testing.T) {
	plugin := func(name, word string) string {
		return skillDir(t, map[string]string{
			".claude-plugin/plugin.json":            `{"name":"` + name + `"}`,
			"skills/pdf/SKILL.md":                   "---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY OF " + word + "\n",
			"skills/pdf/references/r.md":            "DOC OF " + word + "\n",
			"skills/pdf/scripts/say.sh":             "echo SCRIPT OF " + word + "\n",
			"skills/pdf/references/" + word + ".md": "x\n",
		})
	}
	one, two := plugin("one", "one"), plugin("two", "two")
	host := skillDir(t, map[string]string{"pdf/SKILL.md": "---\nname: pdf\ndescription: The host's.\n---\nBODY OF host\n", "pdf/references/r.md": "DOC OF host\n"})
	for name, tt := range map[string]struct{ before, after, load []string }{
		"a plugin comes":            {[]string{"--skills", host, "--plugin", one}, []string{"--skills", host, "--plugin", one, "--plugin", two}, []string{"plugin:pdf", "one:pdf"}},
		"a plugin goes":             {[]string{"--skills", host, "--plugin", one, "--plugin", two}, []string{"--skills", host, "--plugin", one}, []string{"one:pdf"}},
		"the owner of a name comes": {[]string{"--plugin", one}, []string{"--skills", host, "--plugin", one}, []string{"pdf", "plugin:pdf", "one:pdf"}},
		"the owner of a name goes":  {[]string{"--skills", host, "--plugin", one}, []string{"--plugin", one}, []string{"plugin:pdf"}},
		"all at once":               {[]string{"--plugin", one}, []string{"--skills", host, "--plugin", two, "--plugin", one}, []string{"pdf", "plugin:pdf"}},
	} {
		for _, loaded := range tt.load {
			for _, mode := range []string{"session"} {
				t.Run(name+" "+loaded+" "+mode, func(t *testing.T) {
					rest := []string{"--store", filepath.Join(t.TempDir(), "store"), "--session", "s", "--load-mode", mode, "--executor", "local", "-"}
					first := answersOf(t, `{"tool":"skill_load","args":{"skill":"`+loaded+`"}}`, append(tt.before, rest...)...)
					if len(first) != 1 || !strings.HasPrefix(first[0], "loaded: ") {
						t.Fatalf("load: %q", first)
					}
					key, _, _ := strings.Cut(strings.TrimPrefix(first[0], "loaded: "), "\n")
					calls := []string{
						`{"tool":"skill_read","args":{"skill":"KEY","path":"references/r.md"}}`,
						`{"tool":"skill_list_docs","args":{"skill":"KEY"}}`,
						`{"tool":"skill_run","args":{"skill":"KEY","command":"bash scripts/say.sh"}}`,
						`{"tool":"skill_select_docs","args":{"skill":"KEY","docs":["references/one.md"]}}`,
						`{"tool":"skill_load","args":{"skill":"one:pdf"}}`,
						`{"tool":"skill_read","args":{"skill":"one:pdf","path":"references/r.md"}}`,
						`{"tool":"skill_unload","args":{"skills":["KEY"]}}`,
					}
					wants := []string{"DOC OF one", "references/one.md", "SCRIPT OF one", "docs of " + key, "already loaded: " + key, "DOC OF one", "unloaded: " + key}
					got := fullAnswers(t, strings.ReplaceAll(strings.Join(calls, "\n"), "KEY", key), append(tt.after, rest...)...)
					if len(got) != len(wants) {
						t.Fatalf("answers %q", got)
					}
					for i, want := range wants {
						if !strings.Contains(got[i], want) {
							t.Errorf("%s: %q, want %q", calls[len(calls)-len(wants)+i], got[i], want)
						}
					}
				})
			}
		}
	}
	got := answersOf(t, strings.Join([]string{
		`{"tool":"skill_load","args":{"skill":"plugin:pdf"}}`, `{"tool":"skill_load","args":{"skill":"oen:pdf"}}`, `{"tool":"skill_load","args":{"skill":"two:pdf"}}`,
	}, "\n"), "--skills", host, "--plugin", one, "--plugin", two, "-")
	if len(got) != 3 || !strings.Contains(got[0], `"plugin:pdf" is the name of 2 skills: say "one:pdf" or "two:pdf"`) ||
		!strings.Contains(got[1], "did you mean") || !strings.Contains(got[1], `"one:pdf"`) || !strings.HasPrefix(got[2], "loaded: two:pdf") {
		t.Errorf("answers %q", got)
	}
}

// fullAnswers are the answers of all tools.
func fullAnswers(t *testing.T, calls string, args ...string) (all []string) {
	t.Helper()
	got := program(t, nil, calls, append([]string{"tool", "--json"}, args...)...)
	for line := range strings.Lines(got.out) {
		var text string
		if json.Unmarshal([]byte(line), &text) == nil {
			all = append(all, text)
		}
	}
	if got.code != 0 {
		t.Fatalf("code %d: %s", got.code, got.err)
	}
	return all
}
