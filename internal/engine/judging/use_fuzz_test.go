package judging

import (
	"encoding/json"
	"testing"

	"github.com/satchel-go/satchel/internal/text/shellcmd"
)

// FuzzUse checks that a command which a pattern allows is the command of the pattern.
func FuzzUse(f *testing.F) {
	f.Add(`{"command":"echo ok"}`)
	f.Add(`{"command":"echo ok","command":"x"}`)
	f.Add(`{"command":"echo \u003b x"}`)
	f.Add(`{"a":1,"command":"x","b":[{}]}`)
	tool := NewNames().Tool("bash")
	list := []List{{Skill: "a", Rules: Parse("Bash(echo:*)")}}
	f.Fuzz(func(t *testing.T, arguments string) {
		var j Judge
		if j.decide(tool.Request(arguments), list).Outcome != Granted {
			return
		}
		var args map[string]any
		if err := json.Unmarshal([]byte(arguments), &args); err != nil {
			t.Fatalf("%q is granted: %v", arguments, err)
		}
		text, _ := args["command"].(string)
		commands, err := shellcmd.Words(text)
		if err != nil || len(commands) == 0 {
			t.Fatalf("%q is granted: %v", text, err)
		}
		for _, c := range commands {
			if len(c.Args) == 0 || c.Args[0] != "echo" {
				t.Fatalf("%q is granted and has %q", text, c.Args)
			}
		}
	})
}
