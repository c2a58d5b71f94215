package satchel_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/skillmd"
	"github.com/satchel-go/satchel/tools"
)

var optionSkills = fstest.MapFS{
	"pdf/SKILL.md":   {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n")},
	"other/SKILL.md": {Data: []byte("---\nname: mismatch\ndescription: Is elsewhere.\n---\nGo.\n")},
}

// first returns the system text of a session's first request.
func first(t *testing.T, opts ...satchel.Option) string {
	t.Helper()
	rt, err := satchel.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	v, err := rt.Prepare(context.Background(), core.Request{
		Key: core.SessionKey{Session: "s"}, Messages: []core.Message{{Role: core.User, Text: "hi"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if v.Messages[0].Role != core.System {
		return ""
	}
	return v.Messages[0].Text
}

func TestOptions(t *testing.T) {
	skills := satchel.WithSkillFS("skills", optionSkills)
	shared, err := catalog.Open(context.Background(), []catalog.Root{catalog.FS("skills", optionSkills)})
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	for _, tt := range []struct {
		name        string
		opts        []satchel.Option
		has, hasNot string
	}{
		{"default", []satchel.Option{skills}, "<skill><name>mismatch</name>", "- pdf"},
		{"strict reading", []satchel.Option{skills, satchel.WithSkillRoots(catalog.Reading(catalog.WithMode(skillmd.Strict)))}, "<name>pdf</name>", "mismatch"},
		{"own catalog", []satchel.Option{satchel.WithCatalog(shared)}, "<name>pdf</name>", "- pdf"},
		{"lines", []satchel.Option{skills, satchel.WithOverview(satchel.Overview{Format: processors.Lines})}, "- pdf: Reads PDF files.", "<name>"},
		{"no guidance", []satchel.Option{skills, satchel.WithOverview(satchel.Overview{NoGuidance: true})}, "</available_skills>", "skill_load"},
		{"own guidance", []satchel.Option{skills, satchel.WithOverview(satchel.Overview{Guidance: "Load first."})}, "Load first.", "skill_load"},
		{"renderer", []satchel.Option{skills, satchel.WithOverview(satchel.Overview{Render: func(s []core.Skill) string { return "first of all " + s[0].Name }})}, "first of all mismatch\nLoad a skill with skill_load", "<name>"},
		{"renderer without guidance", []satchel.Option{skills, satchel.WithOverview(satchel.Overview{NoGuidance: true, Render: func(s []core.Skill) string { return "first of all " + s[0].Name }})}, "first of all mismatch", "skill_load"},
		{"no overview", []satchel.Option{skills, satchel.WithOverview(satchel.Overview{Render: func([]core.Skill) string { return "" }})}, "", "pdf"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := first(t, tt.opts...)
			if !strings.Contains(got, tt.has) || strings.Contains(got, tt.hasNot) {
				t.Errorf("system text %q: want %q and not %q", got, tt.has, tt.hasNot)
			}
		})
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	skills := satchel.WithSkillFS("skills", optionSkills)
	shared, err := catalog.Open(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	for _, tt := range []struct {
		name string
		opts []satchel.Option
		want error
	}{
		{"empty directory", []satchel.Option{satchel.WithSkillDirs("")}, satchel.ErrOption},
		{"missing directory", []satchel.Option{satchel.WithSkillDirs("no/such/dir")}, catalog.ErrNotExist},
		{"nil file system", []satchel.Option{satchel.WithSkillFS("x", nil)}, satchel.ErrOption},
		{"catalog and places", []satchel.Option{skills, satchel.WithCatalog(shared)}, satchel.ErrOption},
		{"nil catalog", []satchel.Option{satchel.WithCatalog(nil)}, satchel.ErrOption},
		{"nil store", []satchel.Option{satchel.WithStore(nil)}, satchel.ErrOption},
		{"load mode", []satchel.Option{satchel.WithLoading(satchel.Loading{Mode: loadmode.Mode(9)})}, loadmode.ErrMode},
		{"placement", []satchel.Option{satchel.WithLoading(satchel.Loading{Placement: 9})}, satchel.ErrOption},
		{"summary rule", []satchel.Option{satchel.WithLoading(satchel.Loading{Summary: 9})}, satchel.ErrOption},
		{"cap", []satchel.Option{satchel.WithLoading(satchel.Loading{Max: -2})}, satchel.ErrOption},
		{"overview", []satchel.Option{satchel.WithOverview(satchel.Overview{Tokens: -2})}, satchel.ErrOption},
		{"profile", []satchel.Option{satchel.WithTools(satchel.Tools{Profile: "half"})}, tools.ErrProfile},
		{"read without load", []satchel.Option{satchel.WithTools(satchel.Tools{Names: []string{"skill_read"}})}, tools.ErrSet},
		{"no such tool", []satchel.Option{satchel.WithTools(satchel.Tools{Names: []string{"skill_load", "skill_fly"}})}, tools.ErrSet},
		{"operation twice", []satchel.Option{satchel.WithTools(satchel.Tools{Operations: []tools.Operation{tools.Load()}})}, tools.ErrSet},
		{"nil logger", []satchel.Option{satchel.WithLogger(nil)}, satchel.ErrOption},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt, err := satchel.New(tt.opts...)
			if !errors.Is(err, tt.want) {
				t.Errorf("New = %v, want %v", err, tt.want)
			}
			if rt != nil {
				t.Error("New returned a runtime with its error")
			}
		})
	}
}

func TestLoggerHearsEvents(t *testing.T) {
	var log bytes.Buffer
	handler := slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})
	first(t, satchel.WithSkillFS("skills", optionSkills), satchel.WithLogger(slog.New(handler)))
	if !strings.Contains(log.String(), "turn.begun") {
		t.Errorf("log: %s", log.String())
	}
}
