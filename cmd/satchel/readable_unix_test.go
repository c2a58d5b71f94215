//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/chat"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/satcheltest"
)

// toolchain is a directory with one program, which the user of a sandbox can read.
func toolchain(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "bin", "brew-tea")
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho tea\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The request names the directory, and its programs are found.
func TestChatReadable(t *testing.T) {
	chattest.Sandbox(t) // skips the test if there is no sandbox
	skills, tools := runSkills(t), toolchain(t)
	for executor, want := range map[string]string{"sandbox": "outside the workspace but " + tools + ".", "local": ""} {
		each(t, func(t *testing.T, flags ...string) {
			got := converse(t, steps(calls(satcheltest.ToolCall("skill_load", `{"skill":"lines"}`)), calls(runs(`"command":"brew-tea"`))),
				"", append(flags, "-v", "--executor", executor, "--readable", tools, "--skills", skills, "go")...)
			if got.code != 0 || !strings.Contains(got.err, `"stdout":"tea\n"`) || !strings.Contains(got.err, "readable: "+tools) {
				t.Fatalf("code %d, err %s", got.code, got.err)
			}
			for _, tool := range got.requests[0].Tools {
				if tool.Name == "skill_run" && !strings.Contains(tool.Description, want) {
					t.Errorf("description %s", tool.Description)
				}
			}
		})
	}
	for _, executor := range []string{"sandbox", "local"} {
		got := converse(t, steps(), "", "chat", "--executor", executor, "--readable", "/no/such", "--skills", skills, "go")
		if got.code != cli.ExitUsage || !strings.Contains(got.err, "--readable") || !strings.Contains(got.err, "/no/such") {
			t.Errorf("%s: code %d, err %s", executor, got.code, got.err)
		}
	}
}

func TestDoctorReadable(t *testing.T) {
	chattest.Sandbox(t) // skips the test if there is no sandbox
	tools := toolchain(t)
	var out, errs bytes.Buffer
	c := cli.Console{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) string { return "" }}
	if code := run(t.Context(), []string{"doctor", "--readable", tools}, c); code != cli.ExitDone || !strings.Contains(out.String(), "  - "+tools+"\n") {
		t.Errorf("code %d: %s%s", code, out.String(), errs.String())
	}
	out.Reset()
	var d chat.Diagnosis
	if code := run(t.Context(), []string{"doctor", "--json", "--readable", tools}, c); code != cli.ExitDone {
		t.Errorf("code %d: %s", code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &d); err != nil || len(d.Readable) != 1 || d.Readable[0] != tools {
		t.Errorf("%v: %+v", err, d.Readable)
	}
	errs.Reset()
	if code := run(t.Context(), []string{"doctor", "--readable", "/no/such"}, c); code != cli.ExitUsage || !strings.Contains(errs.String(), "/no/such") {
		t.Errorf("code %d: %s", code, errs.String())
	}
}
