package library

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/tools"
)

// runTool returns the operation runSkill, which lists, reads and starts skills.
func runTool() tools.Operation {
	return tools.Operation{
		Name:        "runSkill",
		Description: "Find (list), read (inspect) and start (run) skills. A part says what comes next.",
		Fields: []tools.Field{
			{Name: "skill", Kind: tools.Text, Description: "canonicalId or name", Aliases: []string{"skillRef", "skill_ref", "canonicalId", "canonical_id", "name"}},
			{Name: "action", Kind: tools.Text, Enum: []string{"list", "inspect", "run"}, Description: "default: run if a skill is named, else list"},
			{Name: "query", Kind: tools.Texts, Aliases: []string{"queries", "q"}},
			{Name: "source", Kind: tools.Text, Enum: []string{"db", "plugin", "file"}},
			{Name: "activeOnly", Kind: tools.Value, Schema: map[string]any{"type": "boolean"}, Description: "false: archived and drafts too", Aliases: []string{"active_only"}},
			{Name: "limit", Kind: tools.Count},
			{Name: "cursor", Kind: tools.Text},
			{Name: "version", Kind: tools.Text, Description: "v3, a versionRef or base"},
			{Name: "path", Kind: tools.Text, Description: "file to inspect"},
			{Name: "view", Kind: tools.Text, Enum: []string{"both", "raw", "numbered"}},
			{Name: "part", Kind: tools.Count},
			{Name: "parameters", Kind: tools.Value, Schema: map[string]any{"type": "object"}, Aliases: []string{"params"}},
			{Name: "docs", Kind: tools.Texts},
		},
		Kind:        tools.Changes,
		ChangesWith: func(args tools.Args) bool { return actionOf(args) == "run" },
		Provides:    []string{"skill_load"},
		Refuse:      fail,
		Call:        runSkill,
	}
}

func actionOf(args tools.Args) string {
	if args.Err() != nil {
		return ""
	}
	if a := args.Text("action"); a != "" {
		return a
	}
	if args.Text("skill") != "" {
		return "run"
	}
	return "list"
}

func runSkill(ctx context.Context, s *tools.Scope, args tools.Args) (string, error) {
	d, actor, answer, err := editorOf(ctx, s)
	if d == nil {
		return answer, err
	}
	limit := s.Limits.Answer
	r := &reading{ctx: ctx, scope: s, args: args, editor: d, actor: actor, limit: limit}
	var text string
	action := actionOf(args)
	err = checkFields(args, action, runFields)
	switch {
	case err != nil:
	case action == "list":
		text, err = r.list()
	case action == "inspect":
		text, err = r.inspect()
	default:
		text, err = r.run()
	}
	var modelErr tools.ModelError
	var wants *skilltools.WantsFork
	switch {
	case errors.As(err, &wants):
		return "", err
	case err == nil:
		return text, nil
	case errors.As(err, &modelErr):
		return fail("invalid", string(modelErr)), nil
	}
	return d.failed(ctx, err, limit)
}

// reading holds the state of one call of runSkill.
type reading struct {
	ctx    context.Context
	scope  *tools.Scope
	args   tools.Args
	editor *editor
	actor  Actor
	limit  int // of the answer, in bytes
}

// skills lists the skills of the actor.
func (r *reading) skills(all bool) ([]skillItem, error) {
	v, err := r.editor.Library.view(r.ctx, r.actor)
	if err != nil {
		return nil, err
	}
	return r.editor.skills(r.ctx, r.scope, v, all)
}

// find resolves a canonical id or a name.
func (r *reading) find(ref string) (skillItem, error) {
	v, err := r.editor.Library.view(r.ctx, r.actor)
	if err != nil {
		return skillItem{}, err
	}
	return r.editor.find(r.ctx, r.scope, v, ref)
}
