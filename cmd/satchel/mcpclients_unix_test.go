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

// TestMCPClients runs the protocol's inspector and its conformance suite against satchel mcp.
// Scenarios that need tools, resources or prompts of the suite's own are left out. Then
// satchel, as a client, asks the servers of the suite.
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
		cmd.Env = append(os.Environ(), asProgram+"=1", "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	conform := func(scenario, version string, args ...string) {
		t.Helper()
		out, err := ask("conformance", append(args, "--scenario", scenario, "--spec-version", version, "--force")...)
		if err != nil || !strings.Contains(out, ", 0 failed") {
			t.Errorf("%s of %s: %v: %s", scenario, version, err, out)
		}
	}
	both := []string{
		"sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory", "caching", "tools-list", "resources-list", "prompts-list",
		"dns-rebinding-protection", "sep-2164-resource-not-found", "http-header-validation", "server-sse-multiple-streams",
	}
	for version, scenarios := range map[string][]string{
		"2025-11-25": append([]string{"server-initialize", "logging-set-level", "ping"}, both...),
		"2026-07-28": both,
	} {
		for _, scenario := range scenarios {
			conform(scenario, version, "server", "--url", address)
		}
		for scenario, command := range map[string]string{"no-prefetch": "list", "verify-digest": "show", "verify-size": "show", "verify-frontmatter": "show"} {
			conform("sep-2640-client-"+scenario, version, "client", "--command", client(t, command))
		}
	}
	for want, args := range map[string][]string{
		`"execute_skill"`:                        {"--method", "tools/list"},
		`skill://skills/protocol/guide/SKILL.md`: {"--method", "resources/list"},
		`Skills Protocol Overview`:               {"--method", "tools/call", "--tool-name", "load_skills_protocol_guide"},
		`salesforce.leads.sync`:                  {"--method", "tools/call", "--tool-name", "list_skills", "--tool-arg", "namespace=salesforce"},
		`Verified 3 skills and 8 files`:          {"--method", "skills/list", "--verify"},
	} {
		if out, err := ask("mcp-inspector", append([]string{"--cli", address, "--transport", "http"}, args...)...); err != nil || !strings.Contains(out, want) {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
}

// client is a program that lists the skills of the server at an address, or loads the one
// of the suite's servers.
func client(t *testing.T, command string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), command)
	line := "exec " + os.Args[0] + " " + command + ` --mcp "acme=$1"`
	if command == "show" {
		line += " acme:pdf-processing"
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+line+"\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return file
}
