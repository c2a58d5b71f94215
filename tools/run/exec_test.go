package run

import (
	"errors"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/tools"
)

// The schemas of sessions, byte for byte, as those of the default vocabulary.
func TestSessionSchemas(t *testing.T) {
	want := map[string]string{
		"skill_exec": `{"properties":{"command":{"type":"string"},"skill":{"type":"string"},"tty":{"type":"boolean"}},` +
			`"required":["skill"],"type":"object"}`,
		"skill_write_stdin": `{"properties":{"chars":{"type":"string"},"eof":{"type":"boolean"},"session_id":{"type":"string"},"submit":{"type":"boolean"}},` +
			`"required":["session_id"],"type":"object"}`,
		"skill_poll_session": `{"properties":{"session_id":{"type":"string"}},"required":["session_id"],"type":"object"}`,
		"skill_kill_session": `{"properties":{"session_id":{"type":"string"}},"required":["session_id"],"type":"object"}`,
	}
	r := &Runner{}
	for _, o := range r.Operations() {
		if o.Name == "skill_run" {
			continue
		}
		tool := o.Tool()
		if got := string(tool.Schema); got != want[tool.Name] {
			t.Errorf("%s: got\n%s\nwant\n%s", tool.Name, got, want[tool.Name])
		}
		if tool.Description == "" || len(tool.Description) > 160 {
			t.Errorf("%s: description %q", tool.Name, tool.Description)
		}
		delete(want, tool.Name)
	}
	if len(want) > 0 {
		t.Errorf("no operations %v", want)
	}
}

// skill_exec reads every field that skill_run reads.
func TestExecHasTheFieldsOfRun(t *testing.T) {
	fields := map[string]tools.Field{}
	for _, f := range execFields() {
		fields[f.Name] = f
	}
	for _, f := range runFields() {
		if g := fields[f.Name]; g.Kind != f.Kind || g.Required != f.Required || strings.Join(g.Aliases, " ") != strings.Join(f.Aliases, " ") {
			t.Errorf("%s: %+v, want %+v", f.Name, g, f)
		}
	}
}

func TestSessionToolsNeedEachOther(t *testing.T) {
	r := &Runner{}
	all := append(skilltools.Default(), r.Operations()...)
	for _, tt := range []struct{ names, err string }{
		{"skill_load skill_exec skill_poll_session", ""},
		{"skill_load skill_exec skill_write_stdin skill_poll_session skill_kill_session", ""},
		{"skill_load skill_exec", "without skill_poll_session"},
		{"skill_exec skill_poll_session", "without skill_load"},
		{"skill_load skill_run skill_kill_session", "without skill_exec"},
		{"skill_load skill_write_stdin skill_poll_session", "without skill_exec"},
	} {
		_, err := skilltools.Choose(all, strings.Fields(tt.names))
		if tt.err == "" && err != nil || tt.err != "" && (!errors.Is(err, tools.ErrSet) || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", tt.names, err, tt.err)
		}
	}
}

// noFiles are those of a host without session commands.
type noFiles struct{ skilltools.Files }

func (noFiles) Sessions() *terminal.Table { return nil }

// Without a runtime there is no table for a session.
func TestSessionsWithoutATable(t *testing.T) {
	r := &Runner{}
	for _, o := range r.Operations() {
		if o.Name == "skill_run" {
			continue
		}
		got, err := skilltools.Answer(t.Context(), &o, &skilltools.Scope{Files: noFiles{}, Rules: skilltools.Rules{Limits: tools.Limits{}.OrDefaults()}}, o.Decode(`{"session_id":"s1","skill":"pdf","command":"true"}`))
		if err != nil || !strings.HasPrefix(got, "error: there are no sessions here") {
			t.Errorf("%s: %q, %v", o.Name, got, err)
		}
	}
}
