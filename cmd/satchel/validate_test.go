package main

import (
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	dir := skillDir(t, map[string]string{
		"claude-x/SKILL.md":      "---\nname: claude-x\ndescription: Reads files. Use it when there is one.\n---\n-----BEGIN PRIVATE KEY-----\nMIIEsecret\n",
		"claude-x/Some_Notes.md": "x",
	})
	got := program(t, nil, "", "validate", dir)
	if got.code != exitDone || strings.Count(got.out, "warning") != 2 || !strings.Contains(got.out, "name-reserved") ||
		!strings.Contains(got.out, "secret-literal") || !strings.Contains(got.out, "file-name-style") || strings.Contains(got.out, "MIIE") {
		t.Errorf("%+v", got)
	}
	if got := program(t, nil, "", "inspect", dir); strings.Contains(got.out, "secret-literal") {
		t.Errorf("inspect advises: %+v", got)
	}
}
