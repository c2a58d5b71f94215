//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/fakellm"
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
		if got.code != exitDone || !strings.HasPrefix(got.out, "acme:guide\nacme:pdf\npdf\n") {
			t.Errorf("list: %d %q %q", got.code, got.out, got.err)
		}
		got = program(t, nil, "", "show", "acme:pdf", "--mcp", "acme="+place, "--skills", near)
		if got.code != exitDone || !strings.Contains(got.out, "BODY FROM AFAR") {
			t.Errorf("show: %d %q %q", got.code, got.out, got.err)
		}
	}
	for flag, want := range map[string]string{
		"acme": "want LABEL=URL", "acme=http://example.com/mcp": "want https beyond this machine", "A=" + address: "label",
	} {
		if got := program(t, nil, "", "list", "--mcp", flag); got.code == exitDone || !strings.Contains(got.err, want) {
			t.Errorf("%s: %d %q", flag, got.code, got.err)
		}
	}
}

// TestChatMCP loads a skill of a server and runs a command: as --approve says.
func TestChatMCP(t *testing.T) {
	far := skillDir(t, map[string]string{"pdf/SKILL.md": "---\nname: pdf\ndescription: Far.\n---\nBODY FROM AFAR\n"})
	address := start(t, "mcp", "--skills", far, "--listen", "127.0.0.1:0", "--unsafe-local")
	for approve, want := range map[string]string{"never": "denied: this call of skill_run was not approved", "always": ran} {
		each(t, func(t *testing.T, flags ...string) {
			script := steps(calls(fakellm.To("skill_load", `{"skill":"acme:pdf"}`)), calls(command("acme:pdf", "echo ok")))
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
