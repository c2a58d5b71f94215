//go:build unix

package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/satchel-go/satchel/internal/testing/servertest"
)

// asProgram, in the environment of the test binary, makes it the program itself.
const asProgram = "SATCHEL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	servertest.Main(m)
}

// process runs the program in a process of its own.
func process(t *testing.T, env map[string]string, stdin string, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = []string{asProgram + "=1"}
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} { // the credentials of the S3 server
		cmd.Env = append(cmd.Env, name+"="+os.Getenv(name))
	}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{code: cmd.ProcessState.ExitCode(), out: out.String(), err: errs.String()}
}

// A conversation that hops between processes over a server, with artifacts in S3, sends the
// bytes of one process that keeps it in memory.
func TestChatResumesOverServers(t *testing.T) {
	t.Parallel()
	skills := testSkills(t)
	for _, engine := range []string{"redis", "redis-cluster", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			where, files := storeURL(t, engine), sharedFiles(t)
			each(t, func(t *testing.T, flags ...string) {
				flags = append(flags, "--load-mode", "session", "--skills", skills)
				var want, parts [][]byte
				for _, r := range converse(t, storyOfTurns(), "", append(flags, "first", "second", "third")...).requests {
					want = append(want, r.Raw)
				}
				id := rand.Text()
				for _, prompt := range []string{"first", "second", "third"} {
					got := converseBy(t, process, nil, storyOfTurns(), "", append(flags, "--store", where, "--artifacts", files, "--resume", id, prompt)...)
					if got.code != 0 {
						t.Fatalf("code %d, err %q", got.code, got.err)
					}
					for _, r := range got.requests {
						parts = append(parts, r.Raw)
					}
				}
				if !slices.EqualFunc(want, parts, bytes.Equal) {
					t.Errorf("one process (-), three (+):\n%s", cmp.Diff(want, parts))
				}
			})
		})
	}
}

// storeURL is what --store names a server by.
func storeURL(t *testing.T, engine string) string {
	t.Helper()
	where := servertest.Shared(t, engine).URL
	if first, _, ok := strings.Cut(where, ","); ok {
		return "redis://" + first
	}
	return where
}

// Calls by hand go on over a server too, and the doctor says what it can lose.
func TestToolAndDoctorWithServers(t *testing.T) {
	skills := testSkills(t)
	for _, engine := range []string{"redis", "redis-cluster", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			where := storeURL(t, engine)
			id := rand.Text()
			tool := func(call ...string) string {
				t.Helper()
				got := program(t, nil, "", append([]string{"tool", "--skills", skills, "--store", where, "--session", id}, call...)...)
				if got.code != 0 {
					t.Fatalf("%v: code %d, err %q", call, got.code, got.err)
				}
				return got.out
			}
			if out := tool("skill_load", `{"skill":"pdf"}`); !strings.Contains(out, "loaded: pdf") {
				t.Errorf("answer %s", out)
			}
			if out := tool("skill_load", `{"skill":"pdf"}`); !strings.Contains(out, "already") {
				t.Errorf("answered by the next process: %s", out)
			}
			got := program(t, nil, "", "doctor", "--store", where)
			name, _, _ := strings.Cut(engine, "-")
			if !strings.Contains(got.out, "\nstore: "+name+" ") || !strings.Contains(got.out, "  - can lose ") {
				t.Errorf("doctor: %s%s", got.out, got.err)
			}
		})
	}
	if got := program(t, nil, "", "doctor", "--store", "unix:///nowhere/s.sock"); got.code == 0 || !strings.Contains(got.err, "--store: open redis") {
		t.Errorf("no server: %d, %q", got.code, got.err)
	}
	if got := program(t, nil, "", "doctor", "--artifacts", "ftp://x"); got.code == 0 || !strings.Contains(got.err, "want s3://") {
		t.Errorf("no bucket: %d, %q", got.code, got.err)
	}
}

func TestEngineErrors(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test") // without a key, the client asks the network for one
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	env := map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
	gone := "unix://" + filepath.Join(t.TempDir(), "s.sock")
	for says, args := range map[string][]string{
		"want redis://":       {"--store", "mysql://x"},
		"--store: open redis": {"--store", gone},
		"want s3://":          {"--artifacts", "ftp://x", "--skills", testSkills(t)},
		"cannot parse":        {"--store", "postgres://u:secret@h:port/x"},
		"invalid port":        {"--store", "redis://:secret@h:port/x"},
		"--resume needs":      {"--resume", "x"},
	} {
		got := program(t, env, "", append(append([]string{"chat"}, args...), "hi")...)
		if got.code == 0 || !strings.Contains(got.err, says) || strings.Contains(got.err, "secret") {
			t.Errorf("%v: code %d, err %q", args, got.code, got.err)
		}
	}
}
