//go:build unix

package run_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// TestNeededVariablesAreSecrets gives a command the variables that its skill needs, and no answer
// shows them. A variable that the host does not grant is missing.
func TestNeededVariablesAreSecrets(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"api/SKILL.md": {Data: []byte("---\nname: api\ndescription: Calls an API.\nmetadata:\n  openclaw: {primaryEnv: API_KEY, requires: {env: [OTHER_KEY]}}\nrequires: {env: [API_URL]}\n---\nCall.\n")}}
	runner := satchel.Runner{
		Secret: func(_ context.Context, skill core.Skill, name string) (string, bool) {
			return "s3cr3t-value", skill.Name == "api" && name == "API_KEY"
		},
		Env: func(context.Context, core.Skill) map[string]string {
			return map[string]string{"API_URL": "http://api.test"}
		},
	}
	b := newBench(t, runner, satchel.WithSkillFS("more", files))
	if answer := b.call("skill_load", `{"skill":"api"}`); !strings.Contains(answer, "\nmissing here: variable OTHER_KEY\n[skill#") {
		t.Errorf("load: %s", answer)
	}
	answer := b.call("skill_run", `{"skill":"api","command":"echo [$API_KEY] [$API_URL] [$OTHER_KEY]"}`)
	if !strings.Contains(answer, "[[API_KEY]] [http://api.test] []") || strings.Contains(answer, "s3cr3t") {
		t.Errorf("run: %s", answer)
	}
}
