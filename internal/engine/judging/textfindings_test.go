package judging

import (
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
)

func TestTextFindings(t *testing.T) {
	none := []string{}
	for _, tt := range []struct {
		text            string
		allowed, denied []string
		want            string // name and code of each finding
	}{
		{"Use the Bash tool.", nil, nil, ""},
		{"Use the Bash tool.", []string{"Bash(git:*)"}, nil, ""},
		{"Use the Bash tool.", []string{"Read"}, nil, "Bash tool-forbidden"},
		{"Use `Bash`.", none, nil, "Bash tool-forbidden"},
		{"Use `Bash(git log)` and the **Write** tool.", []string{"Read"}, nil, "Bash tool-forbidden Write tool-forbidden"},
		{"Use the Bash tool.", nil, []string{"Bash"}, "Bash tool-forbidden"},
		{"Use the Bash tool.", nil, []string{"Bash(rm:*)"}, ""},
		{"Use skill_run to run it.", []string{"Read"}, nil, "skill_run tool-forbidden"},
		{"Call skill_run.", []string{"Read"}, nil, "skill_run tool-forbidden"},
		{"Call skill_run.", nil, nil, ""},
		{"skill_run(\"x\"), then **skill_run**", nil, []string{"skill_run"}, "skill_run tool-forbidden"},
		{"Call skill_frobnicate.", nil, nil, "skill_frobnicate tool-unknown"},
		{"Then invoke the `skill_frobnicate` with it; calling skills_x, too.", []string{"Read"}, nil, "skill_frobnicate tool-unknown skills_x tool-unknown"},
		{"`skill_name`, skill_id: the key, scripts/skill_run, skill_run.py, my_skill_run, $skill_run and skill_run=1.", []string{"Read"}, nil, ""},
		{"Call skill_validator.py, skill_run/x and skill_dir=x. recall skill_x", none, nil, ""},
		{"Call skill_load, skill_unload and skill_list_docs.", none, nil, ""},
		{"Then call mcp__x__y.", []string{"Read"}, nil, "mcp__x__y tool-forbidden"},
		{"Then call mcp__x__y.", nil, nil, ""},
		{"- ```\n  Use the WebBrowse tool\n  ```\n> ```\n> Call skill_x.\n> ```\n\nUse the Bash tool.", none, nil, "Bash tool-forbidden"},
		{"Call read_file, `skill_run` or the read_file tool.", []string{"Read"}, nil, "skill_run tool-forbidden"},
		{"Call `skill_load`, then the skill_read tool.", none, nil, ""},
		{"Use the WebBrowse tool.", nil, nil, "WebBrowse tool-unknown"},
		{"Use the `Foo` tool and the `search_docs` tool.", nil, nil, "Foo tool-unknown search_docs tool-unknown"},
		{"Use the search_docs tool.", []string{"search_docs"}, nil, ""},
		{"Use the mcp__github__merge tool.", nil, nil, ""},
		{"Use the mcp__github__merge tool.", []string{"mcp__github"}, nil, ""},
		{"Then `mcp__github__merge` and mcp__git__log.", []string{"Read"}, nil, "mcp__github__merge tool-forbidden mcp__git__log tool-forbidden"},
		{"Fetch with WebFetch or Bash(git log).", []string{"Read"}, nil, "WebFetch tool-forbidden Bash tool-forbidden"},
		{"Your Task: Edit and Read. WebFetcher, aWebFetch, x/WebFetch.js, my-WebFetch, Read (twice).", none, nil, ""},
		{"Read the file, write the answer, use the right tool, a command-line tool, the PDF tool or the `jq` tool.", none, nil, ""},
		{"```\nUse the WebBrowse tool\n```\nUse the Bash tool. Use the Bash tool.", none, nil, "Bash tool-forbidden"},
	} {
		var got []string
		for _, d := range NewNames().TextFindings(core.Skill{AllowedTools: tt.allowed, DisallowedTools: tt.denied}, tt.text, 7) {
			name := strings.Trim(strings.Fields(d.Message)[5], ",")
			got = append(got, fmt.Sprint(name, " ", d.Code))
			if d.Line < 7 {
				t.Errorf("%q: line %d", tt.text, d.Line)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q, allowed %q, denied %q: %q, want %q", tt.text, tt.allowed, tt.denied, got, tt.want)
		}
	}
	if d := NewNames().TextFindings(core.Skill{}, "a\nb\n`c` with the WebBrowse tool", 10); len(d) != 1 || d[0].Line != 12 {
		t.Errorf("%+v", d)
	}
}
