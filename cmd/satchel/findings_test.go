package main

import (
	"strings"
	"testing"
)

// Entries of allowed-tools that mean nothing are found where skills are looked at.
func TestFindingsOfLists(t *testing.T) {
	dir := skillDir(t, map[string]string{"odd/SKILL.md": "---\nname: odd\ndescription: Odd.\nallowed-tools: Raed Bash(git:*)\n---\nBODY\n"})
	const want = "allowed-tools: no known tool is called"
	if got := program(t, nil, "", "inspect", dir); !strings.Contains(got.out, want) || !strings.Contains(got.out, "Raed") {
		t.Errorf("inspect: %s%s", got.out, got.err)
	}
	if got := program(t, nil, "", "list", dir); !strings.Contains(got.err, want) || !strings.Contains(got.err, "Raed") {
		t.Errorf("list: %s%s", got.out, got.err)
	}
}

func TestDoctorUnmappedTools(t *testing.T) {
	got := program(t, nil, "", "doctor", "--tools", "run_command,lookup_order,read_file")
	if !strings.Contains(got.out, "  - lookup_order\n") || strings.Contains(got.out, "run_command") || strings.Contains(got.out, "read_file") {
		t.Errorf("doctor: %s%s", got.out, got.err)
	}
	if got = program(t, nil, "", "doctor", "--json", "--tools", "lookup_order"); !strings.Contains(got.out, `"unmapped":["lookup_order"]`) {
		t.Errorf("doctor: %s%s", got.out, got.err)
	}
}
