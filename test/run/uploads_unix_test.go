//go:build unix

package run_test

import (
	"context"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/artifacts"
)

// TestNoCommandSavesAnUpload: whatever a call asks for, nothing that a command saves
// has the name of a file that a user has sent.
func TestNoCommandSavesAnUpload(t *testing.T) {
	t.Parallel()
	const forge = `mkdir -p $WORKSPACE_DIR/uploads $WORKSPACE_DIR/UpLoads $WORKSPACE_DIR/mine/x $WORKSPACE_DIR/out/uploads out; cd $WORKSPACE_DIR; for f in uploads/invoice.txt UpLoads/invoice.txt mine/x/invoice.txt out/invoice.txt out/uploads/invoice.txt; do echo forged > $f; done`
	for _, tt := range []struct{ begins, more string }{
		{"", `"outputs":{"globs":["uploads/*"],"save":true}`},
		{"", `"outputs":{"globs":["UpLoads/*","**/invoice.txt"],"save":true}`},
		{"", `"output_files":["uploads/*"],"save_as_artifacts":true`},
		{"", `"output_files":["$WORKSPACE_DIR/uploads/invoice.txt"]`}, // the host saves all collected files
		{"", `"outputs":{"globs":["out/*"],"name_template":"uploads/"}`},
		{"", `"outputs":{"globs":["out/*"],"name_template":"UPLOADS/"}`},
		{"", `"outputs":{"globs":["out/*"],"name_template":"./uploads/"}`},
		{"", `"outputs":{"globs":["out/*"],"name_template":"uploads//"}`},
		{"", `"outputs":{"globs":["out/*"],"name_template":"x/../uploads/"}`},
		{"", `"outputs":{"globs":["out/*"],"name_template":"uploads/../uploads/"}`},
		{"", `"outputs":{"globs":["out/*"],"name_template":"/uploads/"}`},
		{"", `"outputs":{"globs":["out/*"],"name_template":"uploads\\\\"}`},
		{"", `"outputs":{"globs":["out/*"],"name_template":"uploads /"}`},
		{"", `"outputs":{"globs":["out/*"],"name_template":"uploads./"}`},
		{"", `"outputs":{"globs":["out/*"],"name_template":"upload\u017f/"}`},
		{"", `"outputs":{"globs":["out/*"],"name_template":"up\u200bloads/"}`},
		{"", `"outputs":{"globs":["out/*"],"name_template":"\uff55ploads/"}`},
		{"", `"output_files":["out/*"],"artifact_prefix":"uploads/"`},
		{"mine/x/", `"outputs":{"globs":["mine/**"]}`},
		{"mine/x/", `"outputs":{"globs":["out/*"],"name_template":"Mine/X/"}`},
		{"mine/x/inv", `"outputs":{"globs":["mine/**"]}`},
	} {
		for _, tool := range []string{"skill_run", "skill_exec"} {
			store := artifacts.NewMemory()
			begins := tt.begins
			if begins == "" {
				begins = "uploads/"
			}
			own := strings.TrimSuffix(begins, "inv") + "invoice.txt"
			if _, err := store.Save(context.Background(), "s", own, "text/plain", strings.NewReader("of the user"), 100); err != nil {
				t.Fatal(err)
			}
			b := newBench(t, satchel.Runner{Artifacts: store, ForceSave: true, UploadPrefix: tt.begins})
			answer := b.call(tool, `{"skill":"demo","yield_ms":60000,"command":`+asJSON(t, forge)+`,`+tt.more+`}`)
			kept, err := store.List(context.Background(), "s")
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range kept {
				if f.Name == own && f.Version == 0 {
					continue
				}
				if name := strings.ToLower(f.Name); !strings.HasPrefix(name, "out/") && !strings.HasPrefix(name, "work/") && !strings.HasPrefix(name, "mine/x/../") && name != "mine/x/invoice.txt" || f.Name == own {
					t.Errorf("%s %s: saved is %s@%d; %s", tool, tt.more, f.Name, f.Version, answer)
				}
			}
			if !strings.Contains(answer, "not saved: ") {
				t.Errorf("%s %s is not told: %s", tool, tt.more, answer)
			}
		}
	}
}
