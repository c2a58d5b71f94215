package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

// updateTool returns the operation updateSkill, which creates, changes, copies and archives
// skills. name is the name of the tool. Under another name its texts do not mention runSkill.
func updateTool(name string) tools.Operation {
	say := func(text string) string { return text }
	if name != nameUpdate {
		say = withoutRunSkill.Replace
	}
	return tools.Operation{
		Name:        name,
		Description: say("Change a skill. patch, replace, metadata and archive need the versionRef that inspect showed. edits: {oldText,newText,replaceAll} or {from,to,newText} or {after,newText}."),
		Fields: []tools.Field{
			{Name: "skill", Kind: tools.Text, Description: "canonicalId", Aliases: []string{"skillRef", "skill_ref", "canonicalId", "canonical_id"}},
			{Name: "action", Kind: tools.Text, Required: true, Enum: []string{"create", "patch", "replace", "metadata", "copy", "archive"}},
			{Name: "expectedVersionRef", Kind: tools.Text, Aliases: []string{"expected_version_ref"}},
			{Name: "reason", Kind: tools.Text},
			{Name: "dryRun", Kind: tools.Flag, Aliases: []string{"dry_run"}},
			{Name: "target", Kind: tools.Text, Description: say("SKILL.md (default), body, or a doc; lines count as inspect shows them")},
			{Name: "patchFormat", Kind: tools.Text, Enum: []string{"unifiedDiff", "edits"}, Aliases: []string{"patch_format"}, Hidden: true},
			rawField("patch", "unified diff", "diff"),
			{Name: "edits", Kind: tools.Value, Schema: listOf(map[string]any{"type": "object"}), Reads: listOf(map[string]any{"type": "object", "properties": editFields()})},
			rawField("content", "of create and replace"),
			{Name: "name", Kind: tools.Text, Description: "of create and copy"},
			rawField("description", ""),
			{Name: "category", Kind: tools.Text},
			{Name: "triggers", Kind: tools.Texts},
			{Name: "toolHints", Kind: tools.Texts, Aliases: []string{"tool_hints"}},
			{Name: "status", Kind: tools.Text, Enum: []string{"active", "draft"}},
			{Name: "metadata", Kind: tools.Value, Schema: map[string]any{"type": "object"}},
			{Name: "private", Kind: tools.Value, Schema: map[string]any{"type": "boolean"}},
			{Name: "draft", Kind: tools.Flag},
		},
		Kind: tools.Edits,
		Request: func(args tools.Args) permission.Request {
			return permission.Request{Takes: permission.Text, Text: args.Text("skill"), Idle: args.Err() != nil}
		},
		Prepare: func(ctx context.Context, s *tools.Scope, args tools.Args) (*tools.PreparedChange, error) {
			return prepare(ctx, s, args, say)
		},
		Refuse:  fail,
		Refused: refusedUpdate,
		Call: func(ctx context.Context, s *tools.Scope, args tools.Args) (string, error) {
			return updateSkill(ctx, s, args, say)
		},
	}
}

// withoutRunSkill replaces advice to use runSkill by advice for the default vocabulary.
var withoutRunSkill = strings.NewReplacer(
	`find skills with action "list"`, "use a name from the list of available skills",
	"the versionRef that inspect showed", "the versionRef at the end of the receipt of a load, such as v3-0a1b2c3d4e5f",
	"lines count as inspect shows them", "lines count from the start of the file",
	"inspect the skill and send the versionRef that you saw", "load the skill and send the versionRef at the end of the receipt, such as v3-0a1b2c3d4e5f",
	"Inspect it and make the change anew.", "Load it again and make the change anew.",
	"run it again for the new one", "load it again for the new one",
)

// withMessage returns an error of the library with another message.
func withMessage(err error, say func(string) string) error {
	own, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	said := *own
	said.Message = say(said.Message)
	return &said
}

// textEdit is a structured edit in a call, with the other spellings of each field.
type textEdit struct {
	TextEdit
	NewText    *string `json:"newText"`
	ReplaceAll *bool   `json:"replaceAll"`
	Old        *string `json:"old"`
	OldSnake   *string `json:"old_text"`
	New        *string `json:"new"`
	NewSnake   *string `json:"new_text"`
	AllSnake   *bool   `json:"replace_all"`
}

// join sets each field from the spelling that the model used. It fails if there are several.
func (te *textEdit) join() error {
	var err error
	te.OldText = onlyValue(&err, "oldText", te.OldText, te.Old, te.OldSnake)
	if text := onlyValue(&err, "newText", te.NewText, te.New, te.NewSnake); text != nil {
		te.TextEdit.NewText = *text
	}
	if all := onlyValue(&err, "replaceAll", te.ReplaceAll, te.AllSnake); all != nil {
		te.TextEdit.ReplaceAll = *all
	}
	return err
}

// onlyValue returns the one value that is not nil, and sets err if there are several.
func onlyValue[T any](err *error, name string, values ...*T) (value *T) {
	for _, v := range values {
		if v != nil && value != nil {
			*err = fmt.Errorf("%s is there twice, in other words", name)
		}
		value = cmp.Or(value, v)
	}
	return value
}

func listOf(items map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": items}
}

// editFields returns the JSON schema of textEdit with all spellings. Numbers may be strings.
func editFields() map[string]any {
	fields := map[string]any{"replaceAll": map[string]any{"type": "boolean"}, "replace_all": map[string]any{"type": "boolean"}}
	for _, name := range []string{"oldText", "old_text", "newText", "new_text", "old", "new"} {
		fields[name] = map[string]any{"type": "string"}
	}
	for _, name := range []string{"from", "to", "after"} {
		fields[name] = map[string]any{"type": "integer"}
	}
	return fields
}

// editOf reads the arguments of a call. Errors are tools.ModelError.
func editOf(args tools.Args) (Edit, error) {
	e := Edit{
		Action: args.Text("action"), Skill: args.Text("skill"), Expected: args.Text("expectedVersionRef"), Reason: args.Text("reason"),
		DryRun: args.Flag("dryRun"), Target: args.Text("target"), Format: args.Text("patchFormat"), Name: args.Text("name"),
		Triggers: args.Texts("triggers"), ToolHints: args.Texts("toolHints"), Status: args.Text("status"), Draft: args.Flag("draft"), Model: true,
	}
	err := checkFields(args, e.Action, updateFields)
	if err != nil {
		return e, err
	}
	if e.Patch, _, err = rawText(args, "patch"); err != nil {
		return e, err
	}
	if e.Content, _, err = rawText(args, "content"); err != nil {
		return e, err
	}
	if text, given, err := rawText(args, "description"); err != nil {
		return e, err
	} else if given {
		e.Description = &text
	}
	if c := args.Text("category"); c != "" {
		e.Category = &c
	}
	if err := args.Value("private", &e.Private); err != nil {
		return e, err
	}
	if err := args.Value("metadata", &e.Metadata); err != nil {
		return e, err
	}
	var edits []textEdit
	if err := args.Value("edits", &edits); err != nil {
		return e, err
	}
	for i, te := range edits {
		if err := te.join(); err != nil {
			return e, tools.ModelErrorf("edit %d: %v", i+1, err)
		}
		e.Edits = append(e.Edits, te.TextEdit)
	}
	return e, nil
}

// rawField returns a field whose white space is significant.
func rawField(name, description string, aliases ...string) tools.Field {
	return tools.Field{Name: name, Kind: tools.Value, Description: description, Schema: map[string]any{"type": "string"}, Aliases: aliases}
}

func rawText(args tools.Args, name string) (string, bool, error) {
	var s *string
	if err := args.Value(name, &s); err != nil || s == nil {
		return "", false, err
	}
	return *s, true, nil
}
