package library

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// skillFile is the file that every skill has.
const skillFile = "SKILL.md"

// Limits are the bounds of a skill in a library.
type Limits struct {
	SkillFile int // bytes of SKILL.md; default 512 KiB
	File      int // bytes of another file; default 1 MiB
	Files     int // files of a skill; default 200
	Total     int // bytes of all files; default 16 MiB
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		v   *int
		def int
	}{{&l.SkillFile, defaultSkillFile}, {&l.File, defaultFile}, {&l.Files, defaultFiles}, {&l.Total, defaultTotal}} {
		if *d.v < 1 {
			*d.v = d.def
		}
	}
	return l
}

// of bounds one file.
func (l Limits) of(name string) int {
	if name == skillFile {
		return l.SkillFile
	}
	return l.File
}

// checkFiles returns an error if the files exceed the limits or have unusable paths.
func (l *Library) checkFiles(files map[string][]byte) error {
	if len(files) > l.limits.Files {
		return refuse("too_large", ErrTooLarge, "the skill would have %d files, at most %d may be", len(files), l.limits.Files)
	}
	total := 0
	for name, data := range files {
		if !validPath(name) {
			return invalid("%q is no path within a skill", name)
		}
		if limit := l.limits.of(name); len(data) > limit {
			return refuse("too_large", ErrTooLarge, "the text would have %d bytes, at most %d may be", len(data), limit)
		}
		total += len(data)
	}
	if total > l.limits.Total {
		return refuse("too_large", ErrTooLarge, "the skill would have %d bytes, at most %d may be", total, l.limits.Total)
	}
	return nil
}

func validPath(name string) bool {
	return fs.ValidPath(name) && name != "." && len(name) <= maxPath && strings.Count(name, "/") <= maxFolderDepth && !strings.ContainsAny(name, "\\:") &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f })
}

// isDoc reports whether a file is one that a model may edit.
func isDoc(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return (ext == ".md" || ext == ".txt") && !strings.HasPrefix(name, "scripts/") && name != skillFile
}

// parse parses the SKILL.md of the result of an edit.
func parse(text []byte) (skillmd.Document, []skillmd.Diagnostic, error) {
	doc, found, err := skillmd.Parse(text, skillmd.WithFile(skillFile))
	if err != nil {
		return doc, found, refuse("refused", ErrInvalid, "the result would be no usable skill: %v", err)
	}
	if doc.Skill.Repaired {
		return doc, found, refuse("refused", ErrInvalid, "the front matter of the result cannot be read as YAML")
	}
	return doc, found, nil
}

// checkModel returns an error for changes that no model may make, whatever the role of its user.
// old is nil for a new skill.
func checkModel(old, made *skillmd.Document, oldText, newText string) error {
	if old == nil {
		old = &skillmd.Document{UserInvocable: true}
	}
	what := ""
	switch {
	case !slices.Equal(old.Skill.AllowedTools, made.Skill.AllowedTools) || (old.Skill.AllowedTools == nil) != (made.Skill.AllowedTools == nil):
		what = "allowed-tools"
	case old.Skill.Hidden != made.Skill.Hidden:
		what = "disable-model-invocation"
	case old.UserInvocable != made.UserInvocable:
		what = "user-invocable"
	case !sameKey(old.Skill.Metadata, made.Skill.Metadata, "secrets"):
		what = "metadata.secrets"
	}
	if what == "" && oldText != "" {
		what = otherField(oldText, newText)
	}
	if what != "" {
		return refused("an edit may not change %s; ask a person to do it", what)
	}
	if oldText != "" && endsEarly(oldText, newText) {
		return refused("an edit may not end the front matter early; send the whole front matter")
	}
	return nil
}

func sameKey(a, b map[string]string, key string) bool {
	x, inA := a[key]
	y, inB := b[key]
	return x == y && inA == inB
}

// otherField returns the name of a field other than the editable ones that differs.
func otherField(oldText, newText string) string {
	a, ok := splitFront(oldText)
	b, fits := splitFront(newText)
	if !ok || !fits {
		return "front matter"
	}
	fields := map[string]string{}
	for _, f := range blocks(a.lines, "") {
		fields[f.key] += strings.Join(a.lines[f.from:f.to], "")
	}
	for _, f := range blocks(b.lines, "") {
		if !isEditable(f.key) && fields[f.key] != strings.Join(b.lines[f.from:f.to], "") {
			return f.key
		}
		delete(fields, f.key)
	}
	for _, f := range blocks(a.lines, "") {
		if _, left := fields[f.key]; left && !isEditable(f.key) {
			return f.key
		}
	}
	// YAML has more line ends than files have.
	before, after := skilltext.Fields([]byte(oldText)), skilltext.Fields([]byte(newText))
	for _, of := range []map[string]any{before, after} {
		for _, key := range slices.Sorted(maps.Keys(of)) {
			if !isEditable(key) && !reflect.DeepEqual(before[key], after[key]) {
				return key
			}
		}
	}
	return ""
}

func isEditable(field string) bool {
	return field == "description" || field == "metadata" || field == "name" // the name is compared by itself
}

// endsEarly reports whether the front matter of the new text ends before the closing fence of the
// old text.
func endsEarly(oldText, newText string) bool {
	a, ok := splitFront(oldText)
	b, fits := splitFront(newText)
	if !ok || !fits || len(b.lines) >= len(a.lines) {
		return false
	}
	return fences(b.rest) > fences(a.rest)
}

func fences(s string) int {
	n := 0
	for l := range strings.SplitSeq(s, "\n") {
		if strings.TrimRight(l, " \t\r") == "---" {
			n++
		}
	}
	return n
}

func quotedNames(names []string) string {
	if len(names) > maxNames {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
	}
	return strings.Join(names, ", ")
}
