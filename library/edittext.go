package library

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/textedit"
	"github.com/satchel-go/satchel/skillmd"
)

// target says which file an edit is of, and which part of it.
func (m *made) target(e *Edit) (name, before, text string, err error) {
	name = cmp.Or(e.Target, skillFile)
	switch name {
	case "body", "promptTemplate":
		text = string(m.files[skillFile])
		end := max(0, skillmd.FrontMatterEnd([]byte(text)))
		return skillFile, text[:end], text[end:], nil
	case skillFile:
		return name, "", string(m.files[skillFile]), nil
	}
	if !validPath(name) {
		return "", "", "", invalid("%q is no path within the skill", cut(name, 200))
	}
	if e.Model && !isDoc(name) {
		return "", "", "", refused("an edit may not change %s; ask a person to do it", name)
	}
	data, ok := m.files[name]
	if !ok && e.Action == Patch {
		return "", "", "", invalid("there is no file %q; files are %s", cut(name, 200), quotedNames(slices.Sorted(maps.Keys(m.files))))
	}
	if !utf8.Valid(data) {
		return "", "", "", invalid("%s is no text", name)
	}
	return name, "", string(data), nil
}

// text makes a patch or a replacement.
func (l *Library) text(m *made, e *Edit) error {
	name, before, text, err := m.target(e)
	if err != nil {
		return err
	}
	var next string
	if e.Action == Replace {
		if e.Content == "" && name == skillFile {
			return invalid("content is missing")
		}
		next = e.Content
		if before != "" && !strings.HasPrefix(next, "\n") {
			next = "\n" + next
		}
		if next != "" && !strings.HasSuffix(next, "\n") {
			next += "\n"
		}
	} else {
		done, err := patch(text, name, e, l.limits.of(name)-len(before))
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
	if size, limit := len(before)+len(next), l.limits.of(name); size > limit {
		return refuse("too_large", ErrTooLarge, "the text would have %d bytes, at most %d may be", size, limit)
	}
	m.files = maps.Clone(m.files)
	m.files[name] = []byte(before + next)
	return nil
}

func patch(text, name string, e *Edit, limit int) (textedit.Result, error) {
	format := e.Format
	if format == "" {
		format = "unifiedDiff"
		if len(e.Edits) > 0 {
			format = "edits"
		}
	}
	switch {
	case format == "unifiedDiff" && e.Patch == "":
		return textedit.Result{}, invalid("patch is missing: send a diff in patch, or edits")
	case format == "unifiedDiff":
		return textedit.ApplyDiff(text, e.Patch, limit, name)
	case format != "edits":
		return textedit.Result{}, invalid("patchFormat is unifiedDiff or edits, not %q", cut(format, 40))
	}
	edits := make([]textedit.Edit, len(e.Edits))
	for i, te := range e.Edits {
		switch {
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
	return textedit.ApplyEdits(text, edits, limit)
}
