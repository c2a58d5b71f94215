package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/files/deps"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/shellcmd/lookpath"
	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/internal/run"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// bench is a runner with the best executor of this machine, and a set of skills.
type bench struct {
	*run.Runner
	store  blobs.Store
	skills *skillset.Set
	base   string
	n      int
}

func newBench(t *testing.T, skills fstest.MapFS) *bench {
	t.Helper()
	var by executor.Executor
	if s, err := sandbox.Open(t.Context()); err == nil {
		by = s
		t.Cleanup(func() { _ = s.Close() })
	} else if by, err = local.New(); err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	places, err := workspace.Open(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = places.Close() })
	src, err := source.Open(t.Context(), source.FS("test", skills), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := skillset.Open(t.Context(), "", src)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	store := blobs.NewMemory(blobs.Quota{})
	return &bench{Runner: &run.Runner{Executor: by, Workspaces: places, Blobs: store, Expiry: 24 * time.Hour, Languages: run.Languages(t.Context(), by)}, store: store, skills: s, base: base}
}

func (b *bench) do(t *testing.T, job run.Job) run.Result {
	t.Helper()
	b.n++
	job.Tenant, job.ID = "acme", fmt.Sprint("run_", b.n)
	if job.Timeout == 0 {
		job.Timeout = 2 * time.Minute
	}
	if job.Language == "" {
		job.Language = "python"
	}
	result, err := b.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (b *bench) read(t *testing.T, id string) string {
	t.Helper()
	r, _, err := b.store.Open(t.Context(), "acme", id, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func completed(t *testing.T, r run.Result, output string) {
	t.Helper()
	if r.Status != run.Completed || string(r.Output) != output || r.Error != nil || r.Reason != executor.ReasonExit {
		t.Errorf("output %s, want %s: %+v, error %+v", r.Output, output, r, r.Error)
	}
}

func failed(t *testing.T, r run.Result, kind, message string) {
	t.Helper()
	if r.Status != run.Failed || r.Error == nil || r.Error.Type != kind || !strings.Contains(r.Error.Message, message) || r.Output != nil {
		t.Errorf("want %s with %q: %+v, error %+v", kind, message, r, r.Error)
	}
}

// lossy is an executor whose commands are lost when they have ended. It has bash and no other
// language.
type lossy struct{ executor.Executor }

func (e lossy) Find(_ context.Context, name, _ string) (string, error) {
	if name == "bash" {
		return "/bin/bash", nil
	}
	return "", fs.ErrNotExist
}

func (e lossy) Start(ctx context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	p, err := e.Executor.Start(ctx, cmd, term)
	return lostProcess{p}, err
}

type lostProcess struct{ executor.Process }

func (p lostProcess) Wait(ctx context.Context) (executor.Result, error) {
	_, err := p.Process.Wait(ctx)
	return executor.Result{ExitCode: -1, Reason: executor.ReasonLost}, errors.Join(executor.ErrLost, err)
}

// elsewhere is an executor that sees nothing but the workspace of a run, and that prepares workspaces.
type elsewhere struct {
	executor.Executor
	t        *testing.T
	mu       sync.Mutex
	prepared []string
	ran      []string
}

func (e *elsewhere) Find(_ context.Context, name, path string) (string, error) {
	return lookpath.Find(name, path)
}

func (e *elsewhere) Prepare(_ context.Context, workspace string, _ executor.Limits) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.prepared = append(e.prepared, workspace)
	return nil
}

func (e *elsewhere) Start(ctx context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	if filepath.IsAbs(cmd.Skills) {
		e.t.Errorf("a run elsewhere has skills at %s", cmd.Skills)
	}
	e.mu.Lock()
	e.ran = append(e.ran, cmd.Workspace)
	e.mu.Unlock()
	return e.Executor.Start(ctx, cmd, term)
}

// Runs elsewhere have their skills in their own workspaces. Later ones use workspaces that were
// prepared, and each is used once.
func TestRunsElsewhere(t *testing.T) {
	b := newBench(t, skills)
	by := &elsewhere{Executor: b.Executor, t: t}
	b.Executor = by
	leads := b.skill(t, "sales.leads.sync")
	for range 4 {
		completed(t, b.do(t, run.Job{Skill: leads, Args: json.RawMessage(`{"n": 21}`)}), `{"n":42}`)
		run.WaitSpares(b.Runner)
	}
	for i, dir := range by.ran[1:] {
		if !slices.Contains(by.prepared, dir) || slices.Contains(by.ran[:i+1], dir) {
			t.Errorf("run %d was in %s, which was not prepared or was used before", i+1, dir)
		}
	}
	if len(by.ran) != 4 || len(by.prepared) != 5 {
		t.Errorf("ran in %q, prepared %q", by.ran, by.prepared)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	for _, dir := range slices.Concat(by.ran, by.prepared) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", dir, err)
		}
	}
}

func TestLostRun(t *testing.T) {
	b := newBench(t, skills)
	by := lossy{b.Executor}
	b.Executor, b.Languages = by, run.Languages(t.Context(), by)
	if !slices.Equal(b.Languages, []string{"bash"}) {
		t.Errorf("languages %q, want bash alone", b.Languages)
	}
	r := b.do(t, run.Job{Language: "bash", Code: "echo made > $OUTPUT_DIR/a.txt; echo 1"})
	failed(t, r, "Lost", "it may have finished")
	if r.Reason != executor.ReasonLost || len(r.OutputBlobs) != 1 {
		t.Errorf("reason %q, blobs %q", r.Reason, r.OutputBlobs)
	}
	_, err := b.Run(t.Context(), run.Job{Tenant: "acme", ID: "run_js", Language: "javascript", Code: "1", Timeout: time.Minute})
	if !errors.Is(err, run.ErrUnavailable) {
		t.Errorf("a language that is not there: %v", err)
	}
}

const toml = "version = \"1.0.0\"\ndescription = \"x\"\n"

var skills = fstest.MapFS{
	"leads/SKILL.md":       {Data: []byte("---\nname: Lead Sync\nshort_description: x\n---\n")},
	"leads/skill.toml":     {Data: []byte("name = \"sales.leads.sync\"\n" + toml + "[runtime]\nlanguage = \"python\"\nentrypoint = \"code/main.py\"\n[inputs]\nn = { type = \"integer\", required = true }\nnote = { type = \"string\", optional = true, default = \"x\" }\n")},
	"leads/code/main.py":   {Data: []byte("from . import helper\nimport runtime\n\ndef main(args):\n    print('doubling')\n    runtime.summary('Doubled %d.' % args['n'])\n    return {'n': helper.double(args['n'])}\n\ndef sync_leads(n):\n    return helper.double(n)\n")},
	"leads/code/helper.py": {Data: []byte("def double(n):\n    return 2 * n\n")},
	"js/SKILL.md":          {Data: []byte("---\nname: js\ndescription: x\n---\n")},
	"js/skill.toml":        {Data: []byte("name = \"tools.js-add\"\n" + toml + "[runtime]\nlanguage = \"javascript\"\nentrypoint = \"main.js\"\nexport = \"add\"\n")},
	"js/main.js":           {Data: []byte("module.exports.add = (args) => args.a + args.b;\n")},
}

func (b *bench) skill(t *testing.T, id string) *skillset.Skill {
	t.Helper()
	k, err := b.skills.Find("acme", id, "")
	if err != nil {
		t.Fatal(err, b.skills.Diagnostics())
	}
	return k
}

func TestSkills(t *testing.T) {
	b := newBench(t, skills)
	leads := b.skill(t, "sales.leads.sync")
	r := b.do(t, run.Job{Skill: leads, Args: json.RawMessage(`{"n": 21}`)})
	completed(t, r, `{"n":42}`)
	if r.Summary != "Doubled 21." || r.LogsPreview != "doubling\n" {
		t.Errorf("%+v", r)
	}
	failed(t, b.do(t, run.Job{Skill: leads}), "InvalidInput", "args.n is missing: want integer")
	failed(t, b.do(t, run.Job{Skill: leads, Args: json.RawMessage(`{"n": "x"}`)}), "InvalidInput", "args.n: want integer")
	r = b.do(t, run.Job{Code: "from skills.sales.leads.sync import sync_leads\ndef main(args):\n    return sync_leads(4)\n", Mounted: []*skillset.Skill{leads}})
	completed(t, r, "8")
	if r.Summary != "main returned 8" {
		t.Errorf("summary %q", r.Summary)
	}
	if !slices.Contains(run.Languages(t.Context(), nil), "javascript") {
		t.Log("without node: javascript is not tried")
		return
	}
	completed(t, b.do(t, run.Job{Skill: b.skill(t, "tools.js-add"), Args: json.RawMessage(`{"a": 1, "b": 2}`)}), "3")
}

func TestCode(t *testing.T) {
	b := newBench(t, skills)
	r := b.do(t, run.Job{Code: "def main(args):\n    raise ValueError('no')\n"})
	failed(t, r, "ValueError", "ValueError: no")
	if r.Summary != "ValueError: no" || !strings.HasPrefix(r.Error.Message, "Traceback (most recent call last):\n  File ") || strings.Contains(r.Error.Message, "boot.py") ||
		!strings.Contains(r.LogsPreview, "Traceback") {
		t.Errorf("%+v, %+v", r, r.Error)
	}
	failed(t, b.do(t, run.Job{Code: "def main(args):\n    return float('nan')\n"}), "NotJSON", "not JSON")
	failed(t, b.do(t, run.Job{Code: "import os\ndef main(args):\n    os._exit(3)\n"}), "NoResult", "exit code 3")
	failed(t, b.do(t, run.Job{Code: "x = 1\n"}), "NameError", "no function 'main'")
	failed(t, b.do(t, run.Job{Code: "import skills.sales.leads.sync as s\ndef main(args):\n    try:\n        import nosuch\n    except ImportError as e:\n        raise ValueError('no') from e\n", Mounted: []*skillset.Skill{b.skill(t, "sales.leads.sync")}}),
		"ValueError", "Traceback (most recent call last):\n  File ")
	r = b.do(t, run.Job{Code: "import nosuch\n"})
	if failed(t, r, "ModuleNotFoundError", "No module named 'nosuch'"); strings.Contains(r.Error.Message, "boot.py") || strings.Contains(r.Error.Message, "importlib") || !strings.Contains(r.Error.Message, "code.py\", line 1") {
		t.Errorf("%+v", r.Error)
	}
	failed(t, b.do(t, run.Job{Code: "def main(args:\n"}), "SyntaxError", "SyntaxError")
	failed(t, b.do(t, run.Job{Code: "import sys\ndef main(args):\n    sys.exit()\n"}), "NoResult", "gave no result")
	completed(t, b.do(t, run.Job{Code: "def other(args):\n    return args\n", Function: "other", Args: json.RawMessage(`{"a":[1,"é"]}`)}), `{"a":[1,"é"]}`)
	r = b.do(t, run.Job{Code: "def main(args):\n    print('x' * 5000)\n    return 'y' * 5000\n"})
	var large struct {
		Blob string `json:"output_blob"`
		Size int    `json:"size_bytes"`
	}
	if err := json.Unmarshal(r.Output, &large); err != nil || large.Size != 5002 || b.read(t, large.Blob) != `"`+strings.Repeat("y", 5000)+`"` {
		t.Errorf("output %s, %v", r.Output, err)
	}
	if len(r.LogsPreview) > 2000 || !strings.Contains(r.LogsPreview, "bytes left out …]") || b.read(t, r.LogsBlob) != strings.Repeat("x", 5000)+"\n" {
		t.Errorf("logs %q", r.LogsPreview)
	}
	wantEmpty(t, b.base)
}

// wantEmpty looks for what runs have left.
func wantEmpty(t *testing.T, base string) {
	t.Helper()
	err := filepath.WalkDir(base, func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.Contains(name, "code.py") {
			t.Errorf("left: %s", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTimeout(t *testing.T) {
	b := newBench(t, skills)
	failed(t, b.do(t, run.Job{Code: "def main(args):\n    while True: pass\n", Timeout: time.Second}), "Timeout", "ended after")
}

func TestCancel(t *testing.T) {
	b := newBench(t, skills)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := b.Run(ctx, run.Job{
		Tenant: "acme", ID: "run_x", Language: "python", Timeout: 5 * time.Minute,
		Code: "import runtime, time\ndef main(args):\n    runtime.progress('up')\n    time.sleep(300)\n",
		Progress: func(_, message string) {
			if message == "up" {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	wantEmpty(t, b.base)
}

// TestOutputBlobs makes more blobs than a run may, one at a time, in threads and in out/.
func TestOutputBlobs(t *testing.T) {
	b := newBench(t, skills)
	r := b.do(t, run.Job{Code: `
import os, threading
from runtime import blobs

def main(args):
    for i in range(3):
        try:
            blobs.write_file("none") # takes no place
        except RuntimeError:
            pass
    made = []
    threads = [threading.Thread(target=lambda: made.extend(blobs.write_text("x") for _ in range(8))) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    refused = set()
    for i in range(1000):
        try:
            blobs.write_text("y")
        except RuntimeError as e:
            refused.add(str(e))
    open(os.path.join(os.environ["OUTPUT_DIR"], "f"), "w").write("z")
    print("x" * 9000)
    return [sorted(refused), len(set(made)), "x" * 5000]
`})
	if r.Status != run.Completed || len(r.OutputBlobs) != 64 || !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.Contains(w, "the limit of blobs that a run may make is 64 (--max-output-blobs); refused: 1001")
	}) {
		t.Fatalf("%d blobs: %+v, %+v", len(r.OutputBlobs), r, r.Error)
	}
	var output struct {
		Blob string `json:"output_blob"`
	}
	if err := json.Unmarshal(r.Output, &output); err != nil || !strings.HasPrefix(b.read(t, output.Blob), `[["runtime: the limit of blobs that a run may make is 64 (--max-output-blobs): put more into one"],64,"xxx`) || r.LogsBlob == "" {
		t.Errorf("%s, %v, logs %q", r.Output, err, r.LogsBlob)
	}
	if at, err := time.Parse(time.RFC3339, r.ExpiresAt); err != nil || time.Until(at) < 23*time.Hour {
		t.Errorf("expires at %q, %v", r.ExpiresAt, err)
	}
	b.OutputBlobs, b.Expiry = 1, -1
	r = b.do(t, run.Job{Code: "from runtime import blobs\ndef main(args):\n    blobs.write_text('a')\n    blobs.write_text('b')\n"})
	failed(t, r, "RuntimeError", "run may make is 1 (")
	if len(r.OutputBlobs) != 1 || r.ExpiresAt != "" {
		t.Errorf("%+v", r)
	}
}

func TestBlobs(t *testing.T) {
	b := newBench(t, skills)
	b.OutputBlobs = 300
	ours, err := b.store.Create(t.Context(), "acme", "text/plain", strings.NewReader("content é"), 100, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.store.Create(t.Context(), "acme", "text/plain", strings.NewReader("not mounted"), 100, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	args, _ := json.Marshal(map[string]string{"a": ours.ID, "b": other.ID})
	r := b.do(t, run.Job{Inputs: []blobs.Info{ours}, Args: args, Code: `
import os, threading
from runtime import blobs, log

def main(args):
    log.info("begins")
    a = blobs.read_text(args["a"])
    assert open(os.path.join(os.environ["BLOBS_DIR"], args["a"]), encoding="utf-8").read() == a
    try:
        blobs.read_text(args["b"])
        raise SystemError("an unmounted blob was read")
    except RuntimeError as e:
        why = str(e)
    big = os.urandom(3 << 20)
    assert blobs.read_bytes(blobs.write_bytes(big)) == big
    try:
        blobs.write_file("/etc/passwd")
        raise SystemError("a file of the system was stored")
    except RuntimeError:
        pass
    os.makedirs(os.path.join(os.environ["OUTPUT_DIR"], "d"))
    with open(os.path.join(os.environ["OUTPUT_DIR"], "d", "a.csv"), "w") as f:
        f.write("a,b\n1,2\n")
    made = {}
    def write(n):
        for i in range(25):
            text = "%d %d" % (n, i)
            made[blobs.write_text(text)] = text
    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(made) == 200 and all(blobs.read_text(k) == v for k, v in made.items())
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            blobs.list()
            os.write(w, b"it answered")
        except RuntimeError as e:
            os.write(w, str(e).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    os.set_inheritable(w, False)
    return {"a": a, "why": why, "fork": os.read(r, 200).decode(), "json": blobs.read_json(blobs.write_json([1]))}
`})
	completed(t, r, fmt.Sprintf(`{"a":"content é","why":"runtime: unknown blob \"%s\": a run reads the blobs of input_blobs, and those that it made","fork":"runtime: only the process that Satchel started may call","json":[1]}`, other.ID))
	if len(r.OutputBlobs) != 203 {
		t.Fatalf("%d blobs", len(r.OutputBlobs))
	}
	if b.read(t, r.OutputBlobs[202]) != "a,b\n1,2\n" {
		t.Error("the file of out/ is not the last")
	}
	if info, err := b.store.Stat(t.Context(), "acme", r.OutputBlobs[202]); err != nil || info.Kind != "text/csv" {
		t.Errorf("Stat: got %+v, error %v, want Kind %q", info, err, "text/csv")
	}
}

// TestHostileChannel breaks the rules of the channel.
func TestHostileChannel(t *testing.T) {
	b := newBench(t, skills)
	for name, c := range map[string]struct{ code, kind, message string }{
		"long line":    {"os.write(4, b'x' * (9 << 20))", "Policy", "a line of more than"},
		"half a line":  {"os.write(4, b'{'); os._exit(0)", "Policy", "half a line"},
		"no call":      {"os.write(4, b'[]\\n'); os.read(3, 1); os._exit(0)", "Policy", "no call"},
		"many calls":   {"from runtime import _call\n    while True: _call('blobs.list', {})", "Policy", "more than 10000 calls"},
		"closed":       {"os.close(3); os.close(4); os._exit(0)", "NoResult", "gave no result"},
		"nobody reads": {"for i in range(100): os.write(4, b'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"blobs.list\"}\\n')\n    os._exit(0)", "NoResult", "gave no result"},
	} {
		r := b.do(t, run.Job{Code: "import os\ndef main(args):\n    " + c.code + "\n    import time; time.sleep(300)\n"})
		if r.Error == nil || r.Error.Type != c.kind || !strings.Contains(r.Error.Message, c.message) {
			t.Errorf("%s: %+v, %+v", name, r, r.Error)
		}
	}
	r := b.do(t, run.Job{Code: "import runtime\ndef main(args):\n    runtime._call('run.done', {'result': 'first'})\n    return 'second'\n"})
	completed(t, r, `"first"`)
}

func TestOtherLanguages(t *testing.T) {
	b := newBench(t, skills)
	r := b.do(t, run.Job{Language: "bash", Args: json.RawMessage(`{"n": 1}`), Code: "cat \"$ARGS_FILE\" > \"$RESULT_FILE\"; mkdir -p \"$OUTPUT_DIR\"; printf 'a,b\\n1,2\\n' > \"$OUTPUT_DIR/a.csv\"; echo said\n"})
	completed(t, r, `{"n":1}`)
	if len(r.OutputBlobs) != 1 || r.LogsPreview != "said\n" {
		t.Errorf("%+v", r)
	}
	failed(t, b.do(t, run.Job{Language: "bash", Code: "exit 4\n"}), "NoResult", "exit code 4")
	if r := b.do(t, run.Job{Language: "bash", Code: "python -c 'print(6)' > \"$RESULT_FILE\"\n"}); string(r.Output) != "6" {
		t.Errorf("python: %+v", r)
	}
	if !slices.Contains(run.Languages(t.Context(), nil), "javascript") {
		t.Log("without node: javascript is not tried")
		return
	}
	code := `const { blobs, log } = require("runtime");
module.exports.main = async (args) => {
  log.info("begins");
  const id = blobs.writeText("text é");
  const big = blobs.writeBytes(Buffer.alloc(3 << 20, 7));
  return { text: blobs.readText(id), big: blobs.readBytes(big).length, n: args.n, made: blobs.list().length };
};
`
	completed(t, b.do(t, run.Job{Language: "javascript", Code: code, Args: json.RawMessage(`{"n": 5}`)}), `{"text":"text é","big":3145728,"n":5,"made":2}`)
	failed(t, b.do(t, run.Job{Language: "javascript", Code: "module.exports.main = () => { throw new RangeError('no') }"}), "RangeError", "RangeError: no")
	failed(t, b.do(t, run.Job{Language: "javascript", Code: "module.exports.main = () => NaN"}), "NotJSON", "it holds NaN")
}

// waiters starts runs of a tenant that wait in the queue. Each sends its name when it may begin, and
// keeps its place until the test lets it end.
func waiters(t *testing.T, q *run.Queue, tenant string, n int, order chan<- string, end <-chan struct{}) {
	t.Helper()
	queued := make(chan struct{}, n)
	for range n {
		go func() {
			release, err := q.Acquire(context.Background(), tenant, func() { queued <- struct{}{} })
			if err != nil {
				order <- err.Error()
				return
			}
			order <- tenant
			<-end
			release()
		}()
	}
	for range n {
		<-queued
	}
}

func TestQueue(t *testing.T) {
	q := run.NewQueue(4, time.Minute)
	nothing := func() {}
	var releases []func()
	for range 4 { // a tenant without competitors gets all slots
		release, err := q.Acquire(t.Context(), "a", func() { t.Error("waits") })
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	order, end := make(chan string, 100), make(chan struct{})
	waiters(t, q, "a", 16, order, end)
	if _, err := q.Acquire(t.Context(), "a", nothing); !errors.Is(err, run.ErrBusy) || err.Error() != "too many runs: 4 go on and 16 wait: 16 of yours wait, and no more may" {
		t.Errorf("the 17th of a tenant: %v", err)
	}
	waiters(t, q, "b", 4, order, end)
	for i, want := range []string{"b", "b", "c", "a"} { // the tenant with the fewest runs is next
		if want == "c" {
			waiters(t, q, "c", 1, order, end)
		}
		releases[i]()
		if got := <-order; got != want {
			t.Errorf("place %d goes to %q, want %q", i, got, want)
		}
	}
	close(end)
	for range 21 - 4 {
		<-order
	}
	if err := q.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := q.Acquire(t.Context(), "a", nothing); !errors.Is(err, run.ErrStopping) {
		t.Errorf("closed: %v", err)
	}
}

func TestQueueWait(t *testing.T) {
	q := run.NewQueue(1, 10*time.Millisecond)
	release, err := q.Acquire(t.Context(), "a", func() {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = q.Acquire(t.Context(), "b", func() {}); !errors.Is(err, run.ErrBusy) || err.Error() != "too many runs: 1 go on and 1 wait: no place in 10ms" {
		t.Errorf("%v", err)
	}
	release()
	if release, err = q.Acquire(t.Context(), "b", func() {}); err != nil {
		t.Fatal(err)
	}
	release()
}

func TestMain(m *testing.M) { os.Exit(m.Run()) }

// TestInputIsEmpty has programs read their standard input, and have others read it.
func TestInputIsEmpty(t *testing.T) {
	b := newBench(t, skills)
	for _, test := range []struct{ language, code, want string }{
		{"python", "import subprocess, sys\ndef main(args):\n    return [sys.stdin.read(), subprocess.run(['cat'], capture_output=True).stdout.decode()]\n", `["",""]`},
		{"bash", "read -r line; code=$?; cat; bash -c cat; echo \"$code\" > \"$RESULT_FILE\"\n", "1"},
		{"javascript", "module.exports.main = () => [require('fs').readFileSync(0, 'utf8'), String(require('child_process').execSync('cat'))];\n", `["",""]`},
	} {
		if !slices.Contains(run.Languages(t.Context(), nil), test.language) {
			t.Logf("%s is not installed: not tried", test.language)
			continue
		}
		completed(t, b.do(t, run.Job{Language: test.language, Code: test.code, Timeout: 20 * time.Second}), test.want)
	}
}

// TestLanguages has programs as people and models write them.
func TestLanguages(t *testing.T) {
	b := newBench(t, fstest.MapFS{
		"a/SKILL.md":                 {Data: []byte("---\nname: a\ndescription: x\n---\n")},
		"a/skill.toml":               {Data: []byte("name = \"a\"\n" + toml + "[runtime]\nlanguage = \"python\"\nentrypoint = \"code/main.py\"\n")},
		"a/code/main.py":             {Data: []byte("import json\nimport helper, pkg.deep\nfrom helper import name\nasync def main(args):\n    return [json.dumps(1), helper.name, name, pkg.deep.name, helper.__name__]\n")},
		"a/code/helper.py":           {Data: []byte("name = 'a'\n")},
		"a/code/json.py":             {Data: []byte("raise SystemExit(9)\n")},
		"a/code/runtime.py":          {Data: []byte("raise SystemExit(9)\n")},
		"a/code/pkg/__init__.py":     {Data: []byte("")},
		"a/code/pkg/deep.py":         {Data: []byte("import helper\nname = 'deep ' + helper.name\n")},
		"b/SKILL.md":                 {Data: []byte("---\nname: b\ndescription: x\n---\n")},
		"b/scripts/x.py":             {Data: []byte("import helper\nname = helper.name\n")},
		"b/scripts/helper.py":        {Data: []byte("name = 'b'\n")},
		"free/SKILL.md":              {Data: []byte("---\nname: free\ndescription: x\n---\n")},
		"free/skill.toml":            {Data: []byte("name = \"free\"\n" + toml + "[runtime]\nlanguage = \"python\"\nentrypoint = \"code/main.py\"\n")},
		"free/code/main.py":          {Data: []byte("import importlib\nimport lib.deep.part\nfrom lib import near\nimport pip\ndef main(args):\n    own = importlib.import_module('late')\n    sub = importlib.import_module('lib.near')\n    again = importlib.import_module('.late', 'skills.free')\n    return [lib.deep.part.name, near.name, own.name, sub is near, again is own, importlib.import_module('json').dumps(1)]\n")},
		"free/code/lib/near.py":      {Data: []byte("import late\nname = 'near ' + late.name\n")},
		"free/code/late.py":          {Data: []byte("name = 'late'\n")},
		"free/code/lib/deep/part.py": {Data: []byte("from lib.near import name\n")},
		"free/code/pip/x.py":         {Data: []byte("")},
		"needs/SKILL.md":             {Data: []byte("---\nname: needs\ndescription: x\n---\n")},
		"needs/skill.toml":           {Data: []byte("name = \"needs\"\n" + toml + "[runtime]\nlanguage = \"python\"\nentrypoint = \"main.py\"\n")},
		"needs/main.py":              {Data: []byte("import nosuchpackage\n")},
		"needs/requirements.txt":     {Data: []byte("nosuchpackage==1.0\n")},
		"f/SKILL.md":                 {Data: []byte("---\nname: f\ndescription: x\n---\n")},
		"f/skill.toml":               {Data: []byte("name = \"t.io\"\n" + toml + "[runtime]\nlanguage = \"python\"\nentrypoint = \"work/main.py\"\n")},
		"f/work/main.py":             {Data: []byte("import os\ndef main(args):\n    d = os.path.join(os.environ['SKILLS_DIR'], 't.io')\n    return [open(d + '/' + n).read() for n in ('inputs/f', 'out/f', '.venv/f')] + sorted(os.listdir(d))\n")},
		"f/inputs/f":                 {Data: []byte("1")}, "f/out/f": {Data: []byte("2")}, "f/.venv/f": {Data: []byte("3")},
	})
	completed(t, b.do(t, run.Job{Skill: b.skill(t, "a")}), `["1","a","a","deep a","skills.a.helper"]`)
	completed(t, b.do(t, run.Job{Skill: b.skill(t, "free")}), `["near late","near late","late",true,true,"1"]`)
	completed(t, b.do(t, run.Job{Skill: b.skill(t, "t.io")}), `["1","2","3",".venv","SKILL.md","inputs","out","skill.toml","work"]`)
	completed(t, b.do(t, run.Job{Mounted: []*skillset.Skill{b.skill(t, "a"), b.skill(t, "b")}, Code: "import skills.a, skills.b.x\nasync def main(args):\n    return [skills.a.name, skills.b.x.name]\n"}), `["a","b"]`)
	var err error
	if b.Dependencies, err = deps.Create(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if r := b.do(t, run.Job{Skill: b.skill(t, "needs")}); r.Status != run.Failed || !strings.Contains(fmt.Sprint(r.Warnings), "the packages in requirements.txt of skill \"needs\" are not installed") || !strings.Contains(fmt.Sprint(r.Warnings), "satchel deps") {
		t.Errorf("%+v", r)
	}
	bash := func(code string) run.Result { return b.do(t, run.Job{Language: "bash", Code: code}) }
	completed(t, bash("echo oops >&2; printf '{\"a\": 1}\\n'"), `{"a":1}`)
	completed(t, bash("echo one; echo two"), `"one\ntwo"`)
	completed(t, bash("echo seen; echo 3 > \"$RESULT_FILE\""), "3")
	completed(t, bash(":"), `""`)
	failed(t, bash("echo half; exit 3"), "NoResult", "exit code 3")
	failed(t, bash("head -c 9000000 /dev/zero | tr '\\0' x"), "OutputTooLarge", "printed more than 8388608 bytes")
	if r := bash("echo out; echo err >&2"); !strings.Contains(r.LogsPreview, "out\n") || !strings.Contains(r.LogsPreview, "err\n") {
		t.Errorf("logs %q", r.LogsPreview)
	}
	if !slices.Contains(run.Languages(t.Context(), nil), "javascript") {
		t.Log("without node: javascript is not tried")
		return
	}
	for code, want := range map[string]string{
		"function main(args) { return 1 }":                                                                                    "1",
		"async function main(args) { return (await import('runtime')).blobs.list().length }":                                  "0",
		"import { blobs, summary } from 'runtime';\nsummary('x');\nexport function main(args) { return blobs.list().length }": "0",
		"export default (args) => 3":                                                                                          "3",
	} {
		completed(t, b.do(t, run.Job{Language: "javascript", Code: code}), want)
	}
	failed(t, b.do(t, run.Job{Language: "javascript", Code: "const x = 1;"}), "ReferenceError", "write module.exports.main")
}
