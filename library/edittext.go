package library

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/library/internal/textedit"
)

// target returns the file of an edit, and how many bytes at its start the edit may not
// touch.
func (m *made) target(e *Edit) (name, text string, front int, err error) {
	name = cmp.Or(e.Target, skillFile)
	switch name {
	case "body", "promptTemplate":
		text = string(m.files[skillFile])
		return skillFile, text, max(0, frontEnd([]byte(text))), nil
	case skillFile:
		return name, string(m.files[skillFile]), 0, nil
	}
	if !validPath(name) {
		return "", "", 0, invalid("%q is no path within the skill", cut(name, 200))
	}
	data, ok := m.files[name]
	if !ok && e.Action == actionPatch {
		return "", "", 0, invalid("there is no file %q; files are %s", cut(name, 200), quotedNames(slices.Sorted(maps.Keys(m.files))))
	}
	if e.Model && !isDoc(name) {
		return "", "", 0, refused("an edit may not change %s; ask a person to do it", name)
	}
	if !utf8.Valid(data) {
		return "", "", 0, invalid("%s is no text", name)
	}
	return name, string(data), 0, nil
}

// text makes a patch or a replacement.
func (l *Library) text(m *made, e *Edit) error {
	name, text, front, err := m.target(e)
	if err != nil {
		return err
	}
	var next string
	if e.Action == actionReplace {
		if e.Content == "" && name == skillFile {
			return invalid("content is missing")
		}
		next = withLineEnd(text[:front]) + withLineEnd(e.Content)
	} else {
		done, err := patch(text, front, name, e, l.limits.of(name))
		if f, ok := errors.AsType[*textedit.Failure](err); ok {
			switch {
			case f.Code == textedit.TooLarge:
				return refuse("too_large", ErrTooLarge, "the text would have more than the %d bytes that it may have", l.limits.of(name))
			case strings.HasSuffix(f.Text, " changes nothing"):
				return nil // of the only one
			}
			return refuse(string(f.Code), ErrInvalid, "%s", f.Text)
		}
		if err != nil {
			return err
		}
		next, m.warnings = done.Text, append(m.warnings, done.Warnings...)
	}
	if size, limit := len(next), l.limits.of(name); size > limit {
		return refuse("too_large", ErrTooLarge, "the text would have %d bytes, at most %d may be", size, limit)
	}
	m.files = maps.Clone(m.files)
	m.files[name] = []byte(next)
	return nil
}

// withLineEnd ends a text with a line end, unless it is empty.
func withLineEnd(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

func patch(text string, front int, name string, e *Edit, limit int) (textedit.Result, error) {
	format := e.Format
	if format == "" {
		format = "unifiedDiff"
		if len(e.Edits) > 0 {
			format = "edits"
		}
	}
	switch {
	case e.Patch != "" && len(e.Edits) > 0:
		return textedit.Result{}, invalid("patch and edits are both there: send one of them")
	case format == "edits" && e.Patch != "", format == "unifiedDiff" && len(e.Edits) > 0:
		return textedit.Result{}, invalid("patchFormat is %s, but the change is of the other format", format)
	case format == "unifiedDiff" && e.Patch == "":
		return textedit.Result{}, invalid("patch is missing: send a diff in patch, or edits")
	case format == "unifiedDiff":
		return textedit.ApplyDiff(text, front, e.Patch, limit, name)
	case format != "edits":
		return textedit.Result{}, invalid("patchFormat is unifiedDiff or edits, not %q", cut(format, 40))
	}
	edits := make([]textedit.Edit, len(e.Edits))
	for i, te := range e.Edits {
		switch {
		case te.To != nil && te.From == nil, te.ReplaceAll && te.OldText == nil:
			return textedit.Result{}, invalid("edit %d: to needs from, and replaceAll needs oldText", i+1)
		case te.OldText != nil && te.From == nil && te.After == nil:
			edits[i] = textedit.Edit{OldText: *te.OldText, NewText: te.NewText, All: te.ReplaceAll}
		case te.From != nil && te.OldText == nil && te.After == nil:
			to := *te.From
			if te.To != nil {
				to = *te.To
			}
			edits[i] = textedit.Edit{Kind: textedit.ReplaceLines, From: *te.From, To: to, NewText: te.NewText}
		case te.After != nil && te.OldText == nil && te.From == nil:
			edits[i] = textedit.Edit{Kind: textedit.InsertAfter, After: *te.After, NewText: te.NewText}
		default:
			return textedit.Result{}, invalid(`edit %d has none or several of oldText, from and after: send {"oldText","newText"}, {"from","to","newText"} or {"after","newText"}`, i+1)
		}
	}
	return textedit.ApplyEdits(text, front, edits, limit)
}
