package run_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/internal/run"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// landlockAt makes a copy of this program that is an ordinary user without namespaces.
const landlockAt = "SATCHEL_TEST_LANDLOCK_RUNS"

// TestLandlock runs all languages where only Landlock isolates them, as in Docker by default.
// The helpers and the variables find skills, blobs and the workspace. A program that names the
// paths of the other tier gets an error that says so.
func TestLandlock(t *testing.T) {
	if os.Getenv(landlockAt) != "" {
		underLandlock(t)
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestLandlock$", "-test.v")
	cmd.Env = append(os.Environ(), landlockAt+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 1234, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 1234, HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{24}, // CAP_SYS_RESOURCE, which writing max_user_namespaces requires
	}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: TestLandlock") {
		t.Errorf("%v: %s", err, out)
	}
}

func underLandlock(t *testing.T) {
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{
		"note/SKILL.md": {Data: []byte("---\nname: note\ndescription: x\n---\n")}, "note/a.txt": {Data: []byte("of a skill")},
		"asks/SKILL.md":   {Data: []byte("---\nname: asks\ndescription: x\n---\n")},
		"asks/skill.toml": {Data: []byte("name = \"asks\"\n" + toml + "[runtime]\nlanguage = \"python\"\nentrypoint = \"main.py\"\n")},
		"asks/main.py":    {Data: []byte("import place\ndef main(args):\n    return place.there()\n")},
		"asks/place.py":   {Data: []byte("import os\ndef there():\n    return os.path.isdir(\"/workspace\")\n")},
	}
	for name, file := range skills {
		tree[name] = file
	}
	b := newBench(t, tree)
	if c := b.Executor.Capabilities(); c.Isolation != executor.IsolationLandlock || c.SkillsAt != "" {
		t.Fatalf("%+v", c)
	}
	info, err := b.store.Create(t.Context(), "acme", "text/plain", strings.NewReader("of a blob"), 100, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	job := func(language, code string) run.Job {
		return run.Job{
			Language: language, Code: code, Args: []byte(`{"blob": "` + info.ID + `"}`), Inputs: []blobs.Info{info},
			Mounted: []*skillset.Skill{b.skill(t, "note"), b.skill(t, "sales.leads.sync"), b.skill(t, "tools.js-add")},
		}
	}
	for language, code := range map[string]string{
		"python": `import os
from runtime import blobs
from skills.sales.leads.sync import sync_leads
def main(args):
    at = os.environ
    open(at["WORKSPACE_DIR"] + "/work/x", "w").write("x")
    open(at["OUTPUT_DIR"] + "/b.txt", "w").write("kept")
    return [open(at["SKILLS_DIR"] + "/note/a.txt").read(), open(at["BLOBS_DIR"] + "/" + args["blob"]).read(), blobs.read_text(args["blob"]),
        open(blobs.path(args["blob"])).read(), blobs.read_text(blobs.write_file(at["WORKSPACE_DIR"] + "/work/x", "text/plain")), sync_leads(3)]
`,
		"javascript": `const fs = require("fs"), at = process.env, { blobs } = require("runtime");
module.exports.main = (args) => {
  fs.writeFileSync(at.WORKSPACE_DIR + "/work/x", "x");
  fs.writeFileSync(at.OUTPUT_DIR + "/b.txt", "kept");
  return [fs.readFileSync(at.SKILLS_DIR + "/note/a.txt", "utf8"), fs.readFileSync(at.BLOBS_DIR + "/" + args.blob, "utf8"), blobs.readText(args.blob),
    fs.readFileSync(blobs.path(args.blob), "utf8"), blobs.readText(blobs.writeFile(at.WORKSPACE_DIR + "/work/x", "text/plain")), require("skills/tools.js-add").add({ a: 2, b: 4 })];
};
`,
		"bash": `printf x > "$WORKSPACE_DIR/work/x"; printf kept > "$OUTPUT_DIR/b.txt"
blob=$(sed 's/.*"blob": *"\([^"]*\)".*/\1/' "$ARGS_FILE")
printf '["%s","%s","%s","%s","%s",6]' "$(cat "$SKILLS_DIR/note/a.txt")" "$(cat "$BLOBS_DIR/$blob")" "$(cat "$BLOBS_DIR/$blob")" "$(cat "$BLOBS_DIR/$blob")" "$(cat "$WORKSPACE_DIR/work/x")" > "$RESULT_FILE"
`,
	} {
		if !slices.Contains(run.Languages(t.Context(), nil), language) {
			t.Logf("%s is not installed", language)
			continue
		}
		r := b.do(t, job(language, code))
		completed(t, r, `["of a skill","of a blob","of a blob","of a blob","x",6]`)
		if len(r.Warnings) > 0 || len(r.OutputBlobs) == 0 || b.read(t, r.OutputBlobs[len(r.OutputBlobs)-1]) != "kept" {
			t.Errorf("%s: %+v", language, r)
		}
	}
	const told = "this sandbox has no /skills, /workspace and /blobs: use the variables SKILLS_DIR, WORKSPACE_DIR and BLOBS_DIR"
	for name, job := range map[string]run.Job{
		"python":       job("python", "def main(args):\n    return open('/skills/note/a.txt').read()\n"),
		"made up":      job("python", "import os\ndef main(args):\n    os.chdir(os.sep + 'workspace')\n"),
		"javascript":   job("javascript", "module.exports.main = (args) => require('fs').readFileSync(`/blobs/${args.blob}`);\n"),
		"bash":         job("bash", "set -e\ncd /workspace/work\n"),
		"goes on":      job("bash", "cat /skills/note/a.txt\necho 1\n"),
		"caught":       job("python", "import os\ndef main(args):\n    try:\n        open('/blobs/x')\n    except OSError:\n        pass\n    return os.path.exists('/skills')\n"),
		"asked":        job("javascript", "module.exports.main = () => require('fs').existsSync(`/workspace/out`);\n"),
		"asked by -e":  job("bash", "[ -e /skills/note ] || echo none\n"),
		"of a skill":   {Skill: b.skill(t, "asks")},
		"python tells": job("python", "import sys\ndef main(args):\n    try:\n        open('/blobs/x')\n    except OSError as e:\n        print(e, file=sys.stderr)\n    return 1\n"),
	} {
		if job.Skill == nil && !slices.Contains(run.Languages(t.Context(), nil), job.Language) {
			continue
		}
		if r := b.do(t, job); !strings.Contains(strings.Join(r.Warnings, "\n"), told) {
			t.Errorf("%s: %+v %+v", name, r, r.Error)
		}
	}
	for language, code := range map[string]string{
		"bash":   "echo no such file as /usr/skills or my/blobs; ls \"${SKILLS_DIR:-/skills}\" > /dev/null\n",
		"python": "import os\ndef main(args):\n    return open(os.environ.get('SKILLS_DIR', '/skills') + '/note/a.txt').read() and '/usr/skills'\n",
	} {
		if r := b.do(t, job(language, code)); len(r.Warnings) > 0 || r.Status != run.Completed {
			t.Errorf("%s: %+v", language, r)
		}
	}
}
