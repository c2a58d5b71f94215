//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/satcheltest"
)

// What one chat saved in --artifacts is an input of the next.
func TestArtifactsOutliveAChat(t *testing.T) {
	skills, kept := testSkills(t), t.TempDir()
	converse(t, steps(satcheltest.Load("pdf"), satcheltest.Do("skill_run", `{"skill":"pdf","command":"echo kept > out/r.txt","output_files":["out/r.txt"],"save_as_artifacts":true}`)), "",
		"chat", "--skills", skills, "--artifacts", kept, "save it")
	second := converse(t, steps(satcheltest.Load("pdf"), satcheltest.Do("skill_run", `{"skill":"pdf","command":"cat inputs/r.txt","inputs":[{"from":"artifact://out/r.txt"}]}`)), "",
		"chat", "--skills", skills, "--artifacts", kept, "use it")
	if len(second.requests) == 0 {
		t.Fatalf("nothing was sent: %+v", second)
	}
	messages := second.requests[len(second.requests)-1].Messages
	if last := messages[len(messages)-1].Text; !strings.Contains(last, `"stdout":"kept\n"`) {
		t.Errorf("the second chat's run answers %s", last)
	}
}
