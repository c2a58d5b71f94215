//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/satchel-go/satchel/satcheltest"
)

// A run that was killed or interrupted goes on with the trials that are missing.
func TestEvalGoesOn(t *testing.T) {
	for name, end := range map[string]os.Signal{"killed": syscall.SIGKILL, "interrupted": os.Interrupt} {
		t.Run(name, func(t *testing.T) {
			skills, state := evalSkills(t), filepath.Join(t.TempDir(), "state")
			var asked atomic.Int64
			arrived := make(chan struct{}, 100)
			var mayAnswer atomic.Bool
			server, err := satcheltest.Open(func(r satcheltest.Request) satcheltest.Response {
				asked.Add(1)
				if r.Contains("other") && !mayAnswer.Load() { // the third trial
					arrived <- struct{}{}
					<-r.Context().Done()
				}
				if r.Contains("fail") {
					return satcheltest.Response{Text: "Done."}
				}
				return triggering(r)
			})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			env := map[string]string{"OPENAI_BASE_URL": server.URL(), "OPENAI_MODEL": "scripted"}
			args := []string{"eval", "--mode", "trigger", "--skills", skills, "--executor", "local", "-n", "1", "--json", "--state", state}

			cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
			cmd.Env = []string{asProgram + "=1", "OPENAI_BASE_URL=" + server.URL(), "OPENAI_MODEL=scripted"}
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-arrived
			if err := cmd.Process.Signal(end); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the signal or exit code 1
			if end == os.Interrupt {
				report := reportOf(t, outcome{out: out.String(), err: errs.String()})
				if cmd.ProcessState.ExitCode() != 1 || report.Stopped != "interrupted" || report.Queries[1].Triggered != 1 || report.Queries[2].Runs != 0 {
					t.Errorf("%v, %s, %s", cmd.ProcessState, out.String(), errs.String())
				}
			}
			if lines, err := os.ReadFile(state); err != nil || strings.Count(string(lines), "\n") != 2 {
				t.Fatalf("%s, %v, want two lines; %s", lines, err, errs.String())
			}
			mayAnswer.Store(true)
			asked.Store(0)
			o := program(t, env, "", args...)
			report := reportOf(t, o)
			if o.code != 0 || asked.Load() != 4 || report.Queries[0].Triggered != 1 || report.Queries[4].Runs != 1 {
				t.Errorf("code %d, %d requests, %s, %s", o.code, asked.Load(), o.out, o.err)
			}
		})
	}
}

// What was paid for is reported, also if a file cannot be written.
func TestEvalReportsWithoutItsFiles(t *testing.T) {
	skills, dir := evalSkills(t), t.TempDir()
	server, err := satcheltest.Open(func(satcheltest.Request) satcheltest.Response { return satcheltest.Response{Text: "Done."} })
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	args := []string{"eval", "--mode", "trigger", "--skills", skills, "--executor", "local", "-n", "9", "--json"}
	for name, test := range map[string]struct {
		args          []string
		stopped, want string
	}{
		"state": {[]string{"--state", filepath.Join(dir, "state")}, "state", "state: write "},
		"html":  {[]string{"--html", filepath.Join(dir, strings.Repeat("x", 300))}, "", "write --html: "},
		"junit": {[]string{"--junit", filepath.Join(dir, strings.Repeat("x", 300))}, "", "write --junit: "},
	} {
		// A file may have one block, which is 512 or 1,024 bytes.
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `ulimit -f 1; exec "$0" "$@"`, os.Args[0]}, append(args, test.args...)...)...)
		cmd.Env = []string{asProgram + "=1", "OPENAI_BASE_URL=" + server.URL(), "OPENAI_MODEL=scripted"}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run() // exit code 1
		report := reportOf(t, outcome{out: out.String(), err: errs.String()})
		if cmd.ProcessState.ExitCode() != 1 || report.Stopped != test.stopped || report.Queries[0].Runs == 0 || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%s: %v, stopped %q, errors %s", name, cmd.ProcessState, report.Stopped, errs.String())
		}
	}
}
