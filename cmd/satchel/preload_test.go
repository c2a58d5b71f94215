package main

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// tool and chat load the skills of --preload before the first call, and name the flag in errors.
func TestPreloadFlag(t *testing.T) {
	dir := skillDir(t, map[string]string{
		"a/SKILL.md":   "---\nname: a\ndescription: A.\n---\nBody of a.\n",
		"b/SKILL.md":   "---\nname: b\ndescription: B.\n---\nBody of b.\n",
		"hid/SKILL.md": "---\nname: hid\ndescription: H.\ndisable-model-invocation: true\n---\nBody of hid.\n",
	})
	got := program(t, nil, "", "tool", "--skills", dir, "--preload", "b,a", "skill_load", `{"skill":"a"}`)
	if got.code != 0 || !strings.Contains(got.out, "already loaded: a; its text is above") {
		t.Errorf("exit code %d, %s\n%s", got.code, got.err, got.out)
	}
	for name, want := range map[string]string{"c": `"c"`, "hid": "is hidden from the model", "a,a": "is named twice"} {
		got := program(t, nil, "", "tool", "--skills", dir, "--preload", name, "skill_load", `{"skill":"a"}`)
		if got.code != cli.ExitUsage || !strings.Contains(got.err, "--preload: ") || !strings.Contains(got.err, want) {
			t.Errorf("--preload %s: exit code %d, %s", name, got.code, got.err)
		}
	}
}
