package deps_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/files/deps"
	"github.com/satchel-go/satchel/tools/run"
)

const requirements = "tiny\n"

// skills writes three skills: one whose packages are installed, one whose list
// bounds its commands, and one whose packages are missing.
func skills(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, files := range map[string]map[string]string{
		"has":     {"SKILL.md": "", "requirements.txt": requirements},
		"listed":  {"SKILL.md": "allowed-tools: Bash(python3 scripts/x.py:*)\n", "requirements.txt": requirements},
		"missing": {"SKILL.md": "", "requirements.txt": "other\n"},
		"plain":   {"SKILL.md": ""},
	} {
		files["scripts/x.py"] = "#!/usr/bin/python3\nimport tiny\nprint(tiny.word)\n"
		files["SKILL.md"] = fmt.Sprintf("---\nname: %s\ndescription: Runs x.\n%s---\nRun scripts/x.py.\n", name, files["SKILL.md"])
		for file, text := range files {
			at := filepath.Join(dir, name, file)
			write(t, at, text, 0o644)
		}
	}
	return dir
}

func write(t *testing.T, at, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// installed is a cache with the module tiny and the programs tiny and python3.
func installed(t *testing.T) (*deps.Cache, string) {
	t.Helper()
	cache, err := deps.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env, err := cache.Place(t.Context(), requirements)
	if err != nil {
		t.Skipf("this machine has no python3 in a directory of the system: %v", err)
	}
	_, packages, _ := strings.Cut(env.Vars()[0], "=")
	write(t, filepath.Join(packages, "tiny.py"), "word = 'found'\n", 0o644)
	write(t, filepath.Join(env.Bin(), "tiny"), "#!/bin/sh\necho program\n", 0o755)
	write(t, filepath.Join(env.Bin(), "ls"), "#!/bin/sh\necho ls of the packages\n", 0o755)
	return cache, env.Dir
}

func TestCommandsFindPackages(t *testing.T) {
	probe, err := sandbox.Open(t.Context())
	if errors.Is(err, sandbox.ErrUnavailable) {
		t.Skipf("this machine has no sandbox: %v", err)
	}
	if err := errors.Join(err, probe.Close()); err != nil {
		t.Fatal(err)
	}
	cache, place := installed(t)
	dir := skills(t)
	for _, test := range []struct {
		skill, call string
		policy      run.Policy
		want        string // a part of the answer
	}{
		{skill: "has", call: `"command":"python3 scripts/x.py"`, want: `"stdout":"found\n"`},
		{skill: "has", call: `"command":"/usr/bin/python3 scripts/x.py"`, want: `"stdout":"found\n"`},
		{skill: "has", call: `"script":"scripts/x.py"`, want: `"stdout":"found\n"`},
		{skill: "has", call: `"command":"tiny"`, want: `"stdout":"program\n"`},
		{skill: "has", call: `"command":"ls"`, want: "ls of the packages"},
		{skill: "has", call: `"command":"touch ` + place + `/x"`, want: "Read-only file system"},
		{skill: "has", call: `"command":"python3 scripts/x.py"`, policy: run.Policy{Allowed: []string{"python3"}}, want: `"stdout":"found\n"`},
		{skill: "has", call: `"command":"ls SKILL.md"`, policy: run.Policy{Allowed: []string{"ls"}}, want: `"stdout":"SKILL.md\n"`},
		{skill: "listed", call: `"command":"python3 scripts/x.py"`, want: `"stdout":"found\n"`},
		{skill: "missing", call: `"command":"python3 scripts/x.py"`, want: "the packages of requirements.txt are not installed, and commands cannot install them"},
		{skill: "plain", call: `"command":"python3 scripts/x.py"`, want: "No module named 'tiny'"},
	} {
		rt, err := satchel.New(satchel.WithSkillDirs(dir), satchel.WithRunner(satchel.Runner{Dependencies: cache.Dir(), Policy: test.policy}))
		if err != nil {
			t.Fatal(err)
		}
		key := core.SessionKey{Session: "s", Agent: "a"}
		var answer string
		for _, call := range []core.ToolCall{
			{Name: "skill_load", Arguments: fmt.Sprintf(`{"skill":%q}`, test.skill)},
			{Name: "skill_run", Arguments: fmt.Sprintf(`{"skill":%q,%s}`, test.skill, test.call)},
		} {
			if answer, err = rt.CallTool(t.Context(), key, call); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(answer, test.want) || !json.Valid([]byte(answer)) {
			t.Errorf("%s, %s: want %q in %s", test.skill, test.call, test.want, answer)
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
}
