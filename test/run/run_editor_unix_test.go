//go:build unix

package run_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

// Calls that run at the same time have an editor each, and when they have ended
// nothing is left of it.
func TestRunEditorsAtOnce(t *testing.T) {
	base := t.TempDir()
	places, err := workspace.Open(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	b := newBench(t, satchel.Runner{Workspaces: places})
	var all sync.WaitGroup
	answers := make([]string, 8)
	for i := range answers {
		all.Go(func() {
			tool, text := "skill_run", fmt.Sprintf("text %d", i)
			if i%2 == 1 {
				tool = "skill_exec"
			}
			// Each command waits until all have an editor.
			args := command(fmt.Sprintf("touch work/up%d; until [ $(ls work | grep -c up) = %d ]; do sleep 0.01; done; $EDITOR work/e%d; cat work/e%d", i, len(answers), i, i),
				patient+`,"editor_text":"`+text+`"`)
			var err error
			if answers[i], err = b.rt.CallTool(context.Background(), b.key, core.ToolCall{Name: tool, Arguments: args}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, answer := range answers {
		if !strings.Contains(answer, fmt.Sprintf(`"text %d"`, i)) {
			t.Errorf("call %d: %s", i, answer)
		}
	}
	if left, err := filepath.Glob(filepath.Join(base, "*", "*", "workspace", "runs", "editor*")); err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}

// The same calls show the same names, of which a command that takes one spoils
// none for another.
func TestRunEditorsNameIsStable(t *testing.T) {
	const takes = "basename $EDITOR; $EDITOR work/m; rm $EDITOR; mkdir -p $EDITOR/x"
	names := func() (all []string) {
		b := newBench(t, satchel.Runner{})
		for _, c := range []string{"basename $EDITOR", "basename $EDITOR", takes, takes, takes, "basename $EDITOR"} {
			r := b.run(command(c, `,"editor_text":"x"`))
			if r.Stderr != "" || !strings.HasPrefix(r.Stdout, "editor-") {
				t.Fatalf("%s: %+v", c, r)
			}
			all = append(all, strings.TrimSpace(r.Stdout))
		}
		return all
	}
	first, again := names(), names()
	if !slices.Equal(first, again) {
		t.Errorf("first %q, then %q", first, again)
	}
	if want := []string{first[0], first[0], first[2], first[2] + "-2", first[2] + "-3", first[0]}; !slices.Equal(first, want) || first[0] == first[2] {
		t.Errorf("names %q, want %q", first, want)
	}
}

// An editor writes what it was given, byte for byte.
func TestRunEditorsText(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	for _, text := range []string{`\n\nit's \"x\" $(id)\n\n`, `no line end`, `#!/bin/sh\nexit 3\n`, `a\u0000b\u0001`, `%s \\ ü`} {
		r := b.run(command("$EDITOR work/e && od -An -v -tx1 work/e | tr -d ' \n'; printf '"+escaped(text)+"' | od -An -v -tx1 | tr -d ' \n'", `,"editor_text":"`+text+`"`))
		if half := len(r.Stdout) / 2; r.ExitCode != 0 || half == 0 || r.Stdout[:half] != r.Stdout[half:] {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

// escaped writes a JSON text for printf in single quotes.
func escaped(text string) string {
	return strings.NewReplacer(`\u0000`, `\000`, `\u0001`, `\001`, `\"`, `"`, `'`, `'\''`, `%`, `%%`).Replace(text)
}
