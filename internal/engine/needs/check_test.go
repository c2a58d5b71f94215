package needs_test

import (
	"slices"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/needs"
)

// facts has the programs sh and grep, the variable HOME, and tools of the server github.
func facts() needs.Facts {
	has := func(names ...string) func(string) needs.Verdict {
		return func(name string) needs.Verdict { return needs.Of(slices.Contains(names, name)) }
	}
	return needs.Facts{
		Program: has("sh", "grep"), Variable: has("HOME"), System: "linux",
		Tools: []string{"mcp__github__search", "RUBE_FIND", "calendar.list", "githubber_x"}, HasTools: true,
	}
}

func TestLine(t *testing.T) {
	tests := []struct {
		name  string
		needs *core.Needs
		want  string
	}{
		{"nothing declared", nil, ""},
		{"all is there", &core.Needs{Bins: []string{"sh"}, AnyBins: [][]string{{"rg", "grep"}}, Env: []string{"HOME"}, OS: []string{"darwin", "linux"}}, ""},
		{"a program and a variable", &core.Needs{Bins: []string{"ffmpeg", "sh"}, Env: []string{"API_KEY"}}, "missing here: program ffmpeg; variable API_KEY"},
		{"one of several", &core.Needs{AnyBins: [][]string{{"rg", "ag"}}}, "missing here: one of rg, ag"},
		{"one of seven", &core.Needs{AnyBins: [][]string{{"a", "b", "c", "d", "e", "f", "g"}}, Env: []string{"X"}}, "missing here: one of a, b, c, d, e and 2 more; variable X"},
		{"one of one", &core.Needs{AnyBins: [][]string{{"rg"}}}, "missing here: program rg"},
		{"what is optional", &core.Needs{Bins: []string{"ffmpeg", "rg"}, Env: []string{"A", "B"}, Optional: []string{"rg", "A"}}, "missing here: program ffmpeg; variable B"},
		{"a secret", &core.Needs{Secrets: []string{"TOKEN", "HOME"}, Env: []string{"TOKEN"}}, "missing here: variable TOKEN"},
		{"a server", &core.Needs{MCP: []string{"gitlab", "github", "rube", "hubber"}}, "missing here: MCP server gitlab; MCP server hubber"},
		{"a tool", &core.Needs{Tools: []string{"calendar_list", "calendar"}}, "missing here: tool calendar"},
		{"another system", &core.Needs{OS: []string{"darwin"}}, "missing here: only on macOS"},
		{"other systems", &core.Needs{OS: []string{"darwin", "windows"}}, "missing here: only on macOS, Windows"},
		{"a setting is not judged", &core.Needs{Config: []string{"browser.enabled"}}, ""},
		{"five", &core.Needs{Bins: []string{"a", "b", "c", "d", "e"}}, "missing here: program a; program b; program c; program d; program e"},
		{"eight", &core.Needs{Bins: []string{"a", "b", "c", "d", "e", "f", "g"}, Env: []string{"X"}}, "missing here: program a; program b; program c; program d; program e; and 3 more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := needs.Line(needs.Missing(needs.Check(tt.needs, facts()))); got != tt.want {
				t.Errorf("line = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestNothingIsMissingUnjudged checks that an unknown need is not said to be missing.
func TestNothingIsMissingUnjudged(t *testing.T) {
	all := needs.Check(&core.Needs{
		Bins: []string{"a"}, AnyBins: [][]string{{"a", "b"}}, Env: []string{"A"}, MCP: []string{"m"}, Tools: []string{"t"}, OS: []string{"linux"}, Config: []string{"c"},
	}, needs.Facts{})
	if len(all) != 7 || needs.Missing(all) != nil {
		t.Errorf("%v are missing of %v", needs.Missing(all), all)
	}
}

func TestNeedForPeople(t *testing.T) {
	all := needs.Check(&core.Needs{
		Bins: []string{"ffmpeg", "sh"}, AnyBins: [][]string{{"rg", "ag"}}, Env: []string{"API_KEY", "A", "HOME"}, MCP: []string{"gitlab"}, OS: []string{"darwin"}, Config: []string{"x"},
		Optional: []string{"A", "HOME"},
	}, facts())
	want := []string{"ffmpeg (missing)", "sh", "one of rg, ag (missing)", "API_KEY (not given)", "A (optional)", "HOME", "MCP server gitlab (missing)", "only on macOS", "setting x (not checked)"}
	for i, n := range all {
		if n.String() != want[i] {
			t.Errorf("need %d = %q, want %q", i, n, want[i])
		}
	}
}
