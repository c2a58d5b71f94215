//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// invoke runs the program in this process with an input, and returns its exit code and what it wrote.
func invoke(t *testing.T, input string, args ...string) (code int, out, messages string) {
	t.Helper()
	in, err := os.Open(input)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	code = run(args, in, file, &told)
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return code, string(text), told.String()
}

func TestUsage(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args          []string
		input         string
		code          int
		out, messages string
	}{
		"help":           {[]string{"--help"}, os.DevNull, exitDone, "usage: satchel-runner", ""},
		"version":        {[]string{"--version"}, os.DevNull, exitDone, "satchel-runner ", ""},
		"unknown flag":   {[]string{"--loud"}, os.DevNull, exitUsage, "", "see --help"},
		"argument":       {[]string{"now"}, os.DevNull, exitUsage, "", `unexpected argument "now"`},
		"terminal":       {nil, os.DevNull, exitUsage, "", "standard input is no connection"},
		"host that goes": {[]string{"--runtime-isolates"}, empty, exitDone, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, messages := invoke(t, tt.input, tt.args...)
			if code != tt.code || !strings.HasPrefix(out, tt.out) || !strings.Contains(messages, tt.messages) {
				t.Errorf("code %d, out %q, messages %q", code, out, messages)
			}
			if tt.messages != "" && strings.Count(messages, "\n") != 1 {
				t.Errorf("messages of more than a line: %q", messages)
			}
		})
	}
}

// TestRuntimeIsolates checks what the runner claims where only the runtime of the container isolates.
func TestRuntimeIsolates(t *testing.T) {
	e, err := settings{runtimeIsolates: true}.open()
	if err != nil {
		t.Fatal(err)
	}
	c := e.Capabilities()
	if c.Isolation != executor.IsolationContainer || c.Filesystem.Enforced || !c.Network.Enforced || c.HostProcesses.Enforced || c.Loopback.Enforced || c.Memory.Enforced {
		t.Errorf("%+v", c)
	}
	for name, capability := range c.All() {
		if capability.Note == "" {
			t.Errorf("%s has no note", name)
		}
	}
	for name, s := range map[string]settings{
		"tier": {least: "some"}, "directory": {runtimeIsolates: true, readable: dirs{"relative"}}, "temp": {least: "landlock", temp: 1},
	} {
		if _, err := s.open(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestAloneFlag checks that the flag for the child of a container's first process is known and not shown.
func TestAloneFlag(t *testing.T) {
	s, _, done := parse([]string{aloneFlag}, nil, nil)
	if done || !s.alone {
		t.Fatalf("%+v, done %v", s, done)
	}
	if strings.Contains(usage, aloneFlag) {
		t.Error("the usage has a flag that is for no one else")
	}
}
