package judging

import (
	"strconv"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/permission"
)

// TestForbid compares calls with disallowed-tools: whatever may be denied is denied.
func TestForbid(t *testing.T) {
	names := NewNames()
	shell := func(text string) permission.Request {
		return names.Tool("bash").Request(`{"command":` + strconv.Quote(text) + `}`)
	}
	file := func(tool, path string) permission.Request {
		return names.Tool(tool).Request(`{"file_path":` + strconv.Quote(path) + `}`)
	}
	own := func(name string) permission.Request { // as the gate describes Satchel's own tools
		tool := names.Tool(name)
		tool.Always = true
		return permission.Request{Tool: tool}
	}
	long := strings.Repeat("true; ", 600) + "true"
	for _, tt := range []struct {
		list   string
		call   permission.Request
		denied bool
	}{
		{"Bash", shell("ls"), true},
		{"bash", shell("ls"), true},
		{"Write", shell("ls"), false},
		{"Write", shell("ls > out.txt"), true},
		{"Write(/etc/*)", shell("ls > /etc/x"), true},
		{"Write(/etc/*)", shell("ls > /tmp/x"), false},
		{"Write", file("write_file", "a"), true},
		{"Write(secret/**)", file("write_file", "secret/a"), true},
		{"Write(secret/**)", file("write_file", "open/a"), false},
		{"Bash(rm:*)", shell("ls"), false},
		{"Bash(rm:*)", shell("rm -rf x"), true},
		{"Bash(rm:*)", shell("ls; echo a && rm x"), true},
		{"Bash(rm:*)", shell("/bin/rm x"), true},
		{"Bash(rm:*)", shell("X=1 rm x"), true},
		{"Bash(rm:*)", shell("echo $(rm x)"), true},
		{"Bash(rm:*)", shell("$CMD x"), true},
		{"Bash(rm:*)", shell("env rm x"), true},
		{"Bash(rm:*)", shell("sh -c 'rm x'"), true},
		{"Bash(rm:*)", shell("bash -lc 'rm x'"), true},
		{"Bash(rm:*)", shell("echo x | xargs rm"), true},
		{"Bash(rm:*)", shell("find . -exec rm {} +"), true},
		{"Bash(rm:*)", shell("eval rm x"), true},
		{"Bash(rm:*)", shell("rm $X"), true},
		{"Bash(git push:*)", shell("git push $X"), true},
		{"Bash(git push:*)", shell("git $X"), true},
		{"Bash(git push:*)", shell("git log"), false},
		{"Bash(git push:*)", shell("ls $X"), false},
		{"Bash(rm:*)", shell("echo 'rm x'"), false},
		{"Bash(rm:*)", shell("grep rm x"), false},
		{"Bash(rm:*)", shell(long), true},
		{"Bash(rm:*), Write", shell("ls"), false},
		{"mcp__github", permission.Request{Tool: permission.Tool{Name: "mcp__github__merge"}}, true},
		{"mcp__github__*", permission.Request{Tool: permission.Tool{Name: "mcp__github__merge"}}, true},
		{"mcp__github", permission.Request{Tool: permission.Tool{Name: "mcp__gitlab__merge"}}, false},
		{"find_order", permission.Request{Tool: permission.Tool{Name: "find_order"}}, true},
		{"skill_load skill_unload Read", own("skill_load"), false},
		{"skill_unload", own("skill_unload"), false},
		{"skill_read", own("skill_read"), false},
		{"skill_search", own("skill_search"), false},
		{"*", own("skill_unload"), false},
		{"Bash(", shell("ls"), false},
		{"", shell("ls"), false},
	} {
		v, denied := (&Judge{}).Forbid(t.Context(), tt.call, []Denial{{Skill: "pdf", Rules: Parse(tt.list)}})
		if denied != tt.denied || denied && (v.Outcome != Denied || v.Skill != "pdf" || !strings.Contains(v.Reason, "disallowed-tools of pdf")) {
			t.Errorf("%s, %s %q: denied %v, %+v", tt.list, tt.call.Tool.Name, tt.call.Text, denied, v)
		}
		if _, denied := (&Judge{Policy: permission.Off}).Forbid(t.Context(), tt.call, []Denial{{Skill: "pdf", Rules: Parse(tt.list)}}); denied {
			t.Errorf("%s: denied although lists are off", tt.list)
		}
	}
}

func TestDisallowed(t *testing.T) {
	if text := Disallowed([]Denial{{"pdf", Parse("Bash(rm:*) Write Write Bash( skill_load skill_search")}, {"xls", Parse("Skill_Load")}}, []string{"skill_load"}); text != "not allowed while pdf is loaded: Bash(rm:*), Write" {
		t.Error(text)
	}
}
