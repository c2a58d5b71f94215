//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/satcheltest"
)

// TestMCPSkills lists and shows the skills of a server, by HTTP and as a command,
// beside a skill of the same name.
func TestMCPSkills(t *testing.T) {
	far := skillDir(t, map[string]string{"pdf/SKILL.md": "---\nname: pdf\ndescription: Far.\n---\nBODY FROM AFAR\n"})
	near := skillDir(t, map[string]string{"pdf/SKILL.md": "---\nname: pdf\ndescription: Near.\n---\nBODY OF THIS MACHINE\n"})
	address := start(t, "mcp", "--skills", far, "--listen", "127.0.0.1:0", "--unsafe-local")
	started := fmt.Sprintf("env %s='mcp\n--skills\n%s' '%s' -test.run '^TestChatTerminated$'", chatVar, far, os.Args[0])
	for _, place := range []string{address, started} {
		got := program(t, nil, "", "list", "--names", "--mcp", "acme="+place, "--skills", near)
		if got.code != cli.ExitDone || !strings.HasPrefix(got.out, "acme:guide\nacme:pdf\npdf\n") {
			t.Errorf("list: %d %q %q", got.code, got.out, got.err)
		}
		got = program(t, nil, "", "show", "acme:pdf", "--mcp", "acme="+place, "--skills", near)
		if got.code != cli.ExitDone || !strings.Contains(got.out, "BODY FROM AFAR") {
			t.Errorf("show: %d %q %q", got.code, got.out, got.err)
		}
	}
	for flag, want := range map[string]string{
		"acme": "want LABEL=URL", "acme=http://example.com/mcp": "want https beyond this machine", "A=" + address: "label",
	} {
		if got := program(t, nil, "", "list", "--mcp", flag); got.code == cli.ExitDone || !strings.Contains(got.err, want) {
			t.Errorf("%s: %d %q", flag, got.code, got.err)
		}
	}
}

// TestServeMCP serves the skills of another server beside those of this machine: they
// are read through, and not run.
func TestServeMCP(t *testing.T) {
	far := skillDir(t, map[string]string{"pdf/SKILL.md": "---\nname: pdf\ndescription: Far.\n---\nBODY FROM AFAR\n"})
	near := skillDir(t, map[string]string{"pdf/SKILL.md": "---\nname: pdf\ndescription: Near.\n---\nBODY OF THIS MACHINE\n"})
	address := start(t, "mcp", "--skills", far, "--listen", "127.0.0.1:0", "--unsafe-local")
	url := start(t, "serve", "--skills", near, "--mcp", "acme="+address, "--listen", "127.0.0.1:0", "--unsafe-local") + "/rpc"
	for call, want := range map[[2]string]string{
		{"list_skills", `{"namespace": "acme"}`}:                                           `"origin": "the MCP server \"acme\""`,
		{"describe_skill", `{"name": "acme.pdf", "detail": "full"}`}:                       "BODY FROM AFAR",
		{"read_skill_file", `{"name": "acme.pdf", "path": "SKILL.md"}`}:                    "BODY FROM AFAR",
		{"read_skill_file", `{"name": "pdf", "path": "SKILL.md"}`}:                         "BODY OF THIS MACHINE",
		{"execute_skill", `{"name": "acme.pdf"}`}:                                          `it can be read here, and not run`,
		{"run_code", `{"language": "bash", "code": "true", "mount_skills": ["acme.pdf"]}`}: `it can be read here, and not run`,
		{"read_skill_file", `{"name": "acme.skills.protocol.guide", "path": "SKILL.md"}`}:  "Skills Protocol Overview",
		{"read_skill_file", `{"name": "acme.pdf", "path": "../x"}`}:                        "leaves the skill",
		{"describe_skill", `{"name": "acme.fdp"}`}:                                         `did you mean "acme.pdf"`,
	} {
		_, out, errs := invoke(t, "", "call", call[0], call[1], "--url", url)
		if !strings.Contains(out+errs, want) {
			t.Errorf("%v: %s%s, want %s", call, out, errs, want)
		}
	}
	for _, bad := range [][]string{{"--mcp", "acme"}, {"--mcp", "acme=http://example.com/mcp"}, {}} {
		if code, _, errs := invoke(t, "", append([]string{"serve"}, bad...)...); code != cli.ExitUsage {
			t.Errorf("%q: %d %s", bad, code, errs)
		}
	}
}

// TestChatMCP loads a skill of a server and runs a command: as --approve says.
func TestChatMCP(t *testing.T) {
	far := skillDir(t, map[string]string{"pdf/SKILL.md": "---\nname: pdf\ndescription: Far.\n---\nBODY FROM AFAR\n"})
	address := start(t, "mcp", "--skills", far, "--listen", "127.0.0.1:0", "--unsafe-local")
	for approve, want := range map[string]string{"never": "denied: this call of skill_run was not approved", "always": ran} {
		each(t, func(t *testing.T, flags ...string) {
			script := steps(calls(satcheltest.ToolCall("skill_load", `{"skill":"acme:pdf"}`)), calls(command("acme:pdf", "echo ok")))
			got := gateChat(t, script, "", append(flags, "--mcp", "acme="+address, "--approve", approve, "go")...)
			results := got.results(t, "skill_run")
			if len(results) != 1 || !strings.Contains(results[0], want) {
				t.Errorf("--approve %s: %q, %d %s", approve, results, got.code, got.err)
			}
			if last := string(got.requests[len(got.requests)-1].Raw); !strings.Contains(last, `[from the MCP server \"acme\"]`) || !strings.Contains(last, "BODY FROM AFAR") {
				t.Errorf("the text does not say where it comes from: %s", last)
			}
		})
	}
}
