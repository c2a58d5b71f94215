package judging

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/testing/bypasstest"
	"github.com/satchel-go/satchel/permission"
)

func TestEvasions(t *testing.T) {
	var j Judge
	list := []List{{Skill: "a", Rules: Parse(bypasstest.List)}}
	commands := bypasstest.Commands("rm x")
	if len(commands) < 80 {
		t.Fatalf("%d evasions", len(commands))
	}
	tools := map[string]func(command string) permission.Request{
		"skill": shell,
		"host": func(command string) permission.Request {
			u := shell(command)
			u.Tool = permission.Tool{Name: "Bash"}
			u.Skill = ""
			return u
		},
	}
	for kind, use := range tools {
		for name, command := range commands {
			t.Run(kind+"/"+name, func(t *testing.T) {
				v := j.decide(use(command), list)
				if v.Outcome != Denied {
					t.Errorf("%q is %s", command, v.Outcome)
				}
				if !strings.Contains(v.Reason, "Allowed: Bash(echo:*), Read") {
					t.Errorf("reason is %s", v.Reason)
				}
			})
		}
		for _, command := range bypasstest.Allowed {
			if v := j.decide(use(command), list); v.Outcome != Granted || !v.ByPattern {
				t.Errorf("%q is %s: %s", command, v.Outcome, v.Reason)
			}
		}
	}
}

// A command text without end must not cost without end.
func TestManyCommands(t *testing.T) {
	var j Judge
	var entries []string
	for range maxRules {
		entries = append(entries, "Bash("+strings.Repeat("a*", 200)+"b:*)")
	}
	list := []List{{Skill: "a", Rules: Rules(entries)}}
	for _, command := range []string{
		strings.Repeat("a;", 20_000), strings.Repeat("a", 60_000), strings.Repeat("a ", 30_000), strings.Repeat(strings.Repeat("a", 250)+";", 255),
	} {
		if v := j.decide(shell(command), list); v.Outcome != Denied || len(v.Reason) > 20_000 {
			t.Errorf("%.20q is %s with %d bytes", command, v.Outcome, len(v.Reason))
		}
	}
}

func TestInput(t *testing.T) {
	var j Judge
	list := []List{{Skill: "a", Rules: Parse("Bash(python3:*) Bash(sh) Bash(bash -s:*) Bash(jq:*)")}}
	for command, want := range map[string]Outcome{
		"sh": Denied, "bash -s x": Denied, "python3": Denied, "python3 -": Denied, "python3 -u": Denied,
		"python3 scripts/x.py": Granted, "jq .": Granted, "jq . | sh": Denied,
	} {
		u := shell(command)
		u.Input = true
		if v := j.decide(u, list); v.Outcome != want {
			t.Errorf("%q with text to read is %s, want %s", command, v.Outcome, want)
		}
	}
}

func TestLines(t *testing.T) {
	var j Judge
	list := []List{{Skill: "a", Rules: Parse("Bash(echo:*) Bash(python3 scripts/x.py --safe:*)")}}
	u := shell("")
	u.Lines = [][]string{{"./echo", "ok"}, {"bash", "echo", "ok"}}
	if v := j.decide(u, list); v.Outcome != Denied || !strings.Contains(v.Reason, `"./echo ok"`) {
		t.Errorf("%+v", v)
	}
	u.Lines = [][]string{{"scripts/x.py", "--safe", "1"}, {"python3", "scripts/x.py", "--safe", "1"}}
	if v := j.decide(u, list); v.Outcome != Granted || !v.ByPattern {
		t.Errorf("%+v", v)
	}
}
