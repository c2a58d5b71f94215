//go:build unix

package run_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
)

// A skill that no longer asks for its secret, or is gone, may have left it in a file.
// No skill of the session shows it, and no session of skill_exec.
func TestRunHidesWhatASkillWasGivenBeforeItChanged(t *testing.T) {
	const secret = "s3cr3t-value"
	for _, tool := range []string{"skill_run", "skill_exec"} {
		for name, change := range map[string]func(dir string) error{
			"asks no more": func(dir string) error {
				return os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: vault\ndescription: Asks for nothing.\n---\nx\n"), 0o600)
			},
			"removed": os.RemoveAll,
		} {
			t.Run(tool+" "+name, func(t *testing.T) {
				t.Parallel()
				root := t.TempDir()
				dir := filepath.Join(root, "vault")
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: vault\ndescription: Has a key.\nmetadata:\n  secrets: KEY\n---\nx\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				runner := satchel.Runner{Artifacts: artifacts.NewMemory(), Secret: func(_ context.Context, s core.Skill, name string) (string, bool) {
					return secret, s.Name == "vault" && name == "KEY"
				}}
				b := newBench(t, runner, satchel.WithSkillDirs(root))
				b.call("skill_load", `{"skills":["vault","plain"]}`)
				leave := `{"skill":"vault","command":"echo $KEY > out/key","outputs":{"globs":["out/*"],"save":true}}`
				if tool == "skill_run" {
					b.call(tool, leave)
				} else {
					b.finish(b.talk(tool, leave))
				}
				if err := change(dir); err != nil {
					t.Fatal(err)
				}
				if err := b.rt.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
				const show = `{"skill":"plain","command":"cat out/key","output_files":["out/*"]}`
				text, r := b.finish(b.talk("skill_exec", show))
				raw, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				for _, answer := range []string{
					b.call("skill_run", show), text + string(raw),
					b.call("skill_read", `{"skill":"plain","path":"workspace://out/key"}`),
					b.call("skill_read", `{"skill":"plain","path":"artifact://out/key"}`),
				} {
					if strings.Contains(answer, secret) || !strings.Contains(answer, "[KEY]") {
						t.Errorf("answer: %s", answer)
					}
				}
			})
		}
	}
}
