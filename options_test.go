package satchel_test

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
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
	shared, err := catalog.Open(context.Background(), []source.Root{source.FS("skills", optionSkills)})
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close()
	for _, tt := range []struct {
		name        string
		opts        []satchel.Option
		has, hasNot string
	}{
		{"default", []satchel.Option{skills}, "\n<name>mismatch</name>", "- pdf"},
		{"strict reading", []satchel.Option{skills, satchel.WithSkillRoots(nil, catalog.WithReading(source.Reading{Mode: skillmd.Strict}))}, "<name>pdf</name>", "mismatch"},
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
		{"missing directory", []satchel.Option{satchel.WithSkillDirs("no/such/dir")}, fs.ErrNotExist},
		{"nil file system", []satchel.Option{satchel.WithSkillFS("x", nil)}, satchel.ErrOption},
		{"catalog and places", []satchel.Option{skills, satchel.WithCatalog(shared)}, satchel.ErrOption},
		{"nil catalog", []satchel.Option{satchel.WithCatalog(nil)}, satchel.ErrOption},
		{"nil store", []satchel.Option{satchel.WithStore(nil)}, satchel.ErrOption},
		{"load mode", []satchel.Option{satchel.WithLoading(satchel.Loading{Mode: loadmode.Mode(9)})}, loadmode.ErrMode},
		{"placement", []satchel.Option{satchel.WithLoading(satchel.Loading{Placement: 9})}, satchel.ErrOption},
		{"summary rule", []satchel.Option{satchel.WithLoading(satchel.Loading{Summary: 9})}, satchel.ErrOption},
		{"cap", []satchel.Option{satchel.WithLoading(satchel.Loading{Max: -2})}, satchel.ErrOption},
		{"overview", []satchel.Option{satchel.WithOverview(satchel.Overview{Tokens: -2})}, satchel.ErrOption},
		{"profile", []satchel.Option{satchel.WithTools(satchel.Tools{Profile: "half"})}, tools.ErrSet},
		{"read without load", []satchel.Option{satchel.WithTools(satchel.Tools{Names: []string{"skill_read"}})}, tools.ErrSet},
		{"no such tool", []satchel.Option{satchel.WithTools(satchel.Tools{Names: []string{"skill_load", "skill_fly"}})}, tools.ErrSet},
		{"operation twice", []satchel.Option{satchel.WithTools(satchel.Tools{Operations: []tools.Operation{skilltools.Load()}})}, tools.ErrSet},
		{"nil logger", []satchel.Option{satchel.WithLogger(nil)}, satchel.ErrOption},
		{"a field beside the runtime spec", []satchel.Option{satchel.WithTools(satchel.Tools{Vocabulary: tools.Vocabulary{Name: tools.RuntimeSpec, Guidance: "x"}})}, satchel.ErrOption},
		{"a vocabulary without a name", []satchel.Option{satchel.WithTools(satchel.Tools{Vocabulary: tools.Vocabulary{Dotted: true}})}, satchel.ErrOption},
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

// TestOptionsAreFew holds the number of options, and that each can be given once.
func TestOptionsAreFew(t *testing.T) {
	var options []string
	for _, name := range fileOrder {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil {
				continue
			}
			if result, ok := f.Type.Results.List[0].Type.(*ast.Ident); ok && result.Name == "Option" {
				options = append(options, f.Name.Name)
			}
		}
	}
	if len(options) > 24 {
		t.Errorf("%d options, at most 24 are wanted: %v", len(options), options)
	}
}

func TestOptionsGivenTwice(t *testing.T) {
	opened, err := catalog.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	operation := func(name string) satchel.Option {
		op := skilltools.Load()
		op.Name = name
		return satchel.WithTools(satchel.Tools{Operations: []tools.Operation{op}})
	}
	deny := func(context.Context, core.Ask) (core.Answer, error) { return core.AnswerDeny, nil }
	for name, option := range map[string]satchel.Option{
		"WithStore": satchel.WithStore(session.NewMemory()), "WithLogger": satchel.WithLogger(slog.Default()),
		"WithCatalog": satchel.WithCatalog(opened), "WithOverview": satchel.WithOverview(satchel.Overview{}),
		"WithLoading": satchel.WithLoading(satchel.Loading{}), "WithActivation": satchel.WithActivation(satchel.Activation{}),
		"WithTools":       satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}),
		"WithPermissions": satchel.WithPermissions(satchel.Permissions{Policy: permission.Off}),
		"WithRunner":      satchel.WithRunner(satchel.Runner{}), "WithEvents": satchel.WithEvents(nil),
		"WithPrefixGuard": satchel.WithPrefixGuard(), "WithApprover": satchel.WithApprover(deny), "WithGate": satchel.WithGate(nil),
	} {
		_, err := satchel.New(satchel.Options(option, nil), option)
		if !errors.Is(err, satchel.ErrOption) || !strings.HasSuffix(err.Error(), name+" is given twice") {
			t.Errorf("%s: %v", name, err)
		}
	}
	skill := func(name string) satchel.Option {
		return satchel.WithSkillFS(name, fstest.MapFS{name + "/SKILL.md": {Data: []byte("---\nname: " + name + "\ndescription: Does it.\n---\nDo.\n")}})
	}
	allowed := func(key string, names ...string) satchel.Option {
		return satchel.WithAudience(func(context.Context, core.SessionKey) satchel.Audience {
			return satchel.Audience{Key: key, Allow: func(s core.Skill) bool { return slices.Contains(names, s.Name) }}
		})
	}
	for _, opts := range [][]satchel.Option{
		{skill("a"), skill("b"), skill("c"), operation("one"), operation("two"), allowed("x", "a", "b"), allowed("y", "b", "c")},
		{allowed("y", "b", "c"), operation("two"), skill("c"), skill("b"), operation("one"), allowed("x", "a", "b"), skill("a")},
	} {
		rt := newRuntime(t, append(opts, satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}))...)
		if names := toolNames(rt); !slices.Contains(names, "one") || !slices.Contains(names, "two") {
			t.Errorf("tools %v", names)
		}
		view, err := rt.Prepare(t.Context(), core.Request{Key: someone, Messages: []core.Message{{Role: core.User, Text: "hi"}}})
		if err != nil {
			t.Fatal(err)
		}
		if text := view.Messages[0].Text; strings.Contains(text, "<name>a<") || !strings.Contains(text, "<name>b<") || strings.Contains(text, "<name>c<") {
			t.Errorf("both audiences see\n%s", text)
		}
	}
}
