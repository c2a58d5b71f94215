//go:build unix

package run_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/tools"
)

// Names of files that a command writes show what they hold. In every name that the model gets,
// an override of the direction is an escape, and the name that it reads there finds the file.
// The contents of files stay as they are.
func TestNamesArePrintable(t *testing.T) {
	b := newBench(t, satchel.Runner{}, satchel.WithTools(satchel.Tools{Limits: tools.Limits{Answer: 8 << 10}}))
	const name, content = "out/a\u202egnp.txt", "right \u202eto left\u202c"
	hidden := func(answer string) bool {
		return strings.ContainsFunc(strings.ReplaceAll(answer, content, ""), func(r rune) bool { return r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf) })
	}
	args, err := json.Marshal(map[string]any{
		"skill": "demo", "command": "printf '%s' '" + content + "' > '" + name + "'", "timeout": 120,
		"outputs": map[string]any{"globs": []string{"out/*", "none\u202e"}, "inline": true, "save": true},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer := b.call("skill_run", string(args))
	if hidden(answer) || !strings.Contains(answer, `"content":"`+content+`"`) || strings.Count(answer, `a\u202egnp.txt`) < 4 {
		t.Errorf("skill_run: %q", answer)
	}
	for _, call := range []struct{ tool, path, want string }{
		{"skill_read", name, `out/a\u202egnp.txt, lines 1 to 1 of 1` + "\n" + content},
		{"skill_read", "workspace://" + name, content},
		{"skill_read", "out/\u202e", "error: "},
	} {
		args, err := json.Marshal(map[string]string{"path": call.path})
		if err != nil {
			t.Fatal(err)
		}
		if answer := b.call(call.tool, string(args)); hidden(answer) || !strings.Contains(answer, call.want) {
			t.Errorf("%s of %q: %q", call.tool, call.path, answer)
		}
	}

	// An escape has twice the length of its character. Answers stay within the limit nevertheless.
	args, err = json.Marshal(map[string]any{
		"skill": "demo", "command": "n=$(printf '\u202e%.0s' $(seq 80)); for i in $(seq 40); do : > \"out/$n$i\"; done",
		"timeout": 120, "outputs": map[string]any{"globs": []string{"out/*"}, "save": true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if answer := b.call("skill_run", string(args)); hidden(answer) || len(answer) > 8<<10 || !json.Valid([]byte(answer)) || strings.HasPrefix(answer, `{"error"`) {
		t.Errorf("%d bytes: %.400q", len(answer), answer)
	}
}
