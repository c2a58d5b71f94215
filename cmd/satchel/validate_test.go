package main

import (
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	dir := skillDir(t, map[string]string{
		"claude-x/SKILL.md": "---\nname: claude-x\ndescription: Reads files. Use it when there is one.\n---\n-----BEGIN PRIVATE KEY-----\nMIIEsecret\n",
	})
	got := program(t, nil, "", "validate", dir)
	if got.code != cli.ExitDone || strings.Count(got.out, "warning") != 2 || !strings.Contains(got.out, "name-reserved") ||
		!strings.Contains(got.out, "secret-literal") || strings.Contains(got.out, "MIIE") {
		t.Errorf("%+v", got)
	}
	habits := program(t, nil, "", "validate", skillDir(t, map[string]string{
		"reading-x/SKILL.md":      "---\nname: reading-x\ndescription: Reads files. Use it when there is one.\nallowed-tools: Read Frobnicate\n---\n",
		"reading-x/Some_Notes.md": "x",
		"reading-x/good-notes.md": "x",
	}))
	if habits.code != cli.ExitDone || strings.Count(habits.out, "warning") != 2 || !strings.Contains(habits.out, "warning file-name-style: Some_Notes.md") ||
		!strings.Contains(habits.out, "warning allowed-tools-unknown: allowed-tools: no known tool is called Frobnicate") {
		t.Errorf("%+v", habits)
	}
	const end = "validate finds mistakes, not malice; scan with a scanner of your choice (install --scan)\n"
	named := skillDir(t, map[string]string{
		"reading-x/SKILL.md": "---\nname: reading-x\ndescription: Reads files. Use it when there is one.\nallowed-tools: Read\n---\nUse the WebFetch tool,\nthen the WebBrowse tool.\n",
	})
	if got := program(t, nil, "", "validate", named); got.code != cli.ExitDone || !strings.HasSuffix(got.out, "\n"+end) ||
		!strings.Contains(got.out, "line 6: the text names the tool WebFetch, which allowed-tools does not allow") ||
		!strings.Contains(got.out, "line 7: the text names a tool WebBrowse, which is not known") {
		t.Errorf("tools in a text: %+v", got)
	}
	if got := program(t, nil, "", "validate", "--json", named); strings.Contains(got.out, "malice") || got.err != end {
		t.Errorf("--json: %+v", got)
	}
	if got := program(t, nil, "", "inspect", dir); strings.Contains(got.out, "secret-literal") {
		t.Errorf("inspect advises: %+v", got)
	}
}
