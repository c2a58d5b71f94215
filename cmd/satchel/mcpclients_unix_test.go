//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// clientsVar names the directory into which scripts/mcp-clients.sh has installed.
const clientsVar = "SATCHEL_MCP_CLIENTS"

// TestMCPClients has the protocol's inspector, and the scenarios of its conformance
// suite that need no tools, resources and prompts of the suite's own, ask satchel mcp.
func TestMCPClients(t *testing.T) {
	dir := os.Getenv(clientsVar)
	if dir == "" {
		t.Logf("%s is not set: the suite and the inspector are not run (make mcp-clients)", clientsVar)
		return
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	address := start(t, "mcp", "--skills", seedSkills, "--listen", "127.0.0.1:0", "--unsafe-local")
	ask := func(program string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, program), args...)
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, scenario := range []string{
		"server-initialize", "logging-set-level", "ping", "tools-list", "server-sse-multiple-streams", "resources-list", "prompts-list", "dns-rebinding-protection",
	} {
		if out, err := ask("conformance", "server", "--url", address, "--scenario", scenario); err != nil || strings.Contains(out, "FAILURE") {
			t.Errorf("%s: %v: %s", scenario, err, out)
		}
	}
	for want, args := range map[string][]string{
		`"execute_skill"`:                        {"--method", "tools/list"},
		`skill://skills/protocol/guide/SKILL.md`: {"--method", "resources/list"},
		`Skills Protocol Overview`:               {"--method", "tools/call", "--tool-name", "load_skills_protocol_guide"},
		`salesforce.leads.sync`:                  {"--method", "tools/call", "--tool-name", "list_skills", "--tool-arg", "namespace=salesforce"},
	} {
		if out, err := ask("mcp-inspector", append([]string{"--cli", address, "--transport", "http"}, args...)...); err != nil || !strings.Contains(out, want) {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
}
