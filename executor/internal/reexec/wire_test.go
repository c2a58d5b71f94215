package reexec

import (
	"bytes"
	"encoding/binary"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

var plan = Plan{
	Namespaces: true, Host: "/sys", Hostname: "sandbox",
	Steps: []Step{
		{Op: MakeDir, Target: "/usr", Flags: 0o755},
		{Op: Bind, Source: "/usr", Target: "/usr", Flags: 7},
		{Op: MakeFile, Target: "/etc/hosts", Data: "127.0.0.1 localhost\n"},
	},
}

var job = Job{
	Pipes: 2, Listen: []uint16{3128, 65535}, Join: 2, Steps: []Step{{Op: BindFD, Target: "/workspace", Flags: 1}},
	Args: []string{"sh", "-c", "a\xffb"}, Env: []string{"A=", "PATH=/usr/bin"}, Dir: "/workspace",
	UID: 1000, GID: 1001, Groups: true, TTY: true,
	Limits:  []Limit{{Resource: 7, Soft: 1, Hard: 1 << 63}},
	Handled: 1 << 15, HandledNet: 3, Scoped: 1, Terminal: 7,
	Rules:  []Rule{{Path: "/usr", Access: 13}},
	Filter: []byte{1, 2, 3, 4, 5, 6, 7, 8},
}

func body(t testing.TB, frame []byte) []byte {
	t.Helper()
	if got := binary.LittleEndian.Uint32(frame); int(got) != len(frame)-4 {
		t.Fatalf("frame of %d bytes says %d", len(frame), got)
	}
	return frame[4:]
}

func TestRoundTrip(t *testing.T) {
	gotPlan, ok := decodePlan(body(t, plan.Encode()))
	if !ok || !reflect.DeepEqual(*gotPlan, plan) {
		t.Errorf("plan: %v %+v", ok, gotPlan)
	}
	gotJob, ok := decodeJob(body(t, job.Encode()))
	if !ok || !reflect.DeepEqual(*gotJob, job) {
		t.Errorf("job: %v %+v", ok, gotJob)
	}
}

// TestCutShort decodes every proper prefix of a message: each must be refused.
func TestCutShort(t *testing.T) {
	whole := body(t, job.Encode())
	for n := range whole {
		if _, ok := decodeJob(whole[:n]); ok {
			t.Errorf("%d of %d bytes are taken for a job", n, len(whole))
		}
	}
	if _, ok := decodeJob(append(bytes.Clone(whole), 0)); ok {
		t.Error("a byte too many is taken for a job")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(body(f, plan.Encode()))
	f.Add(body(f, job.Encode()))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, ok := decodePlan(b); ok {
			if again, ok := decodePlan(body(t, p.Encode())); !ok || !reflect.DeepEqual(p, again) {
				t.Errorf("plan changed: %+v, %+v", p, again)
			}
		}
		if j, ok := decodeJob(b); ok {
			if again, ok := decodeJob(body(t, j.Encode())); !ok || !reflect.DeepEqual(j, again) {
				t.Errorf("job changed: %+v, %+v", j, again)
			}
		}
	})
}

// TestImports checks that the package imports only packages that keep the hook early, see the package
// comment.
func TestImports(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			switch path, _ := strconv.Unquote(spec.Path.Value); path {
			case "syscall", "strconv", "unsafe", "runtime": // Go initializes the runtime before all other packages
			default:
				t.Errorf("%s imports %s: the hook would be reached later", name, path)
			}
		}
	}
}
