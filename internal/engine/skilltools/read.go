package skilltools

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/text/callargs"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
)

// Read returns the operation skill_read, which reads any file of a loaded skill in pages.
func Read() tools.Operation {
	return tools.Operation{
		Name:        "skill_read",
		Description: "Read a skill's file by lines.",
		Fields: []tools.Field{
			{Name: "path", Kind: tools.Text, Required: true, Aliases: []string{"file_name", "file_path", "file"}},
			{Name: "skill", Kind: tools.Text, Aliases: skillAliases()},
			{Name: "offset", Kind: tools.Count, Aliases: []string{"start_line"}},
			{Name: "limit", Kind: tools.Count, Aliases: []string{"num_lines"}},
		},
		Kind:      tools.Reads,
		Needs:     []string{"skill_load"},
		Call:      With(read),
		ShowsFile: showsSkillFile,
	}
}

// showsSkillFile reports whether a call reads a file of a skill, and not of the workspace. runs
// reports that there is a workspace.
func showsSkillFile(args tools.Args, runs bool) bool {
	asked := args.Text("path")
	if args.Err() != nil || isRef(asked) {
		return false
	}
	_, ok := callargs.InWorkspace(path.Clean(asked))
	return !runs || !ok && !path.IsAbs(asked)
}

func read(ctx context.Context, s *Scope, args tools.Args) (string, error) {
	asked := args.Text("path")
	ref, err := workspaceRef(ctx, s, asked)
	if err != nil {
		return "", err
	}
	if ref == "" {
		return readSkillFile(ctx, s, asked, args)
	}
	answer, err := readRef(ctx, s, ref, asked, args)
	if refused := tools.ModelError(""); ref != asked && !path.IsAbs(asked) && errors.As(err, &refused) {
		// A skill may have a folder of that name too.
		if own, ownErr := readSkillFile(ctx, s, asked, args); ownErr == nil {
			return own, nil
		}
	}
	return answer, err
}

// readSkillFile answers with a file whose path is relative to the folder of a skill.
func readSkillFile(ctx context.Context, s *Scope, asked string, args tools.Args) (string, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	name := args.Text("skill")
	if len(rec.Active) == 0 && (name == "" || !s.KeepsTexts) {
		return "", tools.ModelErrorf("no skill is loaded: call skill_load first")
	}
	if name == "" {
		name = rec.Active[len(rec.Active)-1].Skill
	} else {
		skill, err := findReadable(ctx, s, rec, name)
		if err != nil {
			return "", err
		}
		name, s = skill.Name, s.withName(skill)
	}
	file := printable.Cut(path.Clean(asked), 200) // the name in the answer
	from := s.LoadedCatalog(rec)
	data, err := from.ReadFile(ctx, name, asked)
	if err == nil {
		return skillFileAnswer(ctx, s, file, "", data, args)
	}
	switch {
	case errors.Is(err, catalog.ErrPath) && strings.HasPrefix(path.Clean(asked)+"/", "../"):
		return "", tools.ModelErrorf("%q leaves the skill; load the other skill and read it there", printable.Cut(asked, 200))
	case !errors.Is(err, fs.ErrNotExist):
		return "", readError(ctx, err, "%q of skill %q cannot be read", file, name)
	}
	found, err := otherCase(ctx, from, name, path.Clean(asked))
	if err != nil {
		return "", err
	}
	if found != "" {
		if data, err := from.ReadFile(ctx, name, found); err == nil {
			return skillFileAnswer(ctx, s, found, fmt.Sprintf("there is no %q; this is %q", file, found), data, args)
		}
	}
	return "", missingFile(ctx, from, name, file)
}

// otherCase returns the only file of a skill whose name differs from name in case alone, or "".
func otherCase(ctx context.Context, from *catalog.Catalog, skill, name string) (string, error) {
	files, _, err := from.Files(ctx, skill, 0)
	if err != nil {
		return "", readError(ctx, err, "files of %q cannot be listed", skill)
	}
	found := ""
	for _, f := range files {
		if strings.EqualFold(f, name) {
			if found != "" {
				return "", nil
			}
			found = f
		}
	}
	return found, nil
}

// workspaceRef returns the reference of a workspace file for a path, or "" if the path names a
// file of a skill. The path may be a reference itself, or absolute as commands print it. It may
// also begin with a folder of the workspace, or with a variable that commands have for one.
func workspaceRef(ctx context.Context, s *Scope, asked string) (string, error) {
	if isRef(asked) {
		return asked, nil
	}
	if !s.Runs() {
		return "", nil
	}
	clean := path.Clean(asked)
	if rel, ok := callargs.InWorkspace(clean); ok {
		return workspaceScheme + rel, nil
	}
	if !path.IsAbs(clean) {
		return "", nil
	}
	at, err := s.Workspace(ctx)
	if err != nil {
		return "", err
	}
	if rel, ok := callargs.Below(at, clean); ok && rel != "" {
		return workspaceScheme + rel, nil
	}
	return "", nil
}

const workspaceScheme = "workspace://"

// isRef reports whether a path has the scheme of a workspace file or an artifact.
func isRef(asked string) bool {
	return strings.HasPrefix(asked, workspaceScheme) || strings.HasPrefix(asked, "artifact://")
}

// readRef answers skill_read for a reference to a workspace file or an artifact.
func readRef(ctx context.Context, s *Scope, ref, asked string, args tools.Args) (string, error) {
	if !s.Runs() {
		return "", tools.ModelErrorf("there is no workspace here: only files of skills can be read")
	}
	data, err := s.ReadRef(ctx, ref)
	if err != nil {
		return "", err
	}
	return fileAnswer(s, printable.Cut(asked, 200), "", data, args)
}

// skillFileAnswer returns a page of a skill's file, within the content budget.
func skillFileAnswer(ctx context.Context, s *Scope, file, note string, data []byte, args tools.Args) (string, error) {
	text, err := fileAnswer(s, file, note, data, args)
	if err != nil || !showsSkillFile(args, s.Runs()) {
		return text, err
	}
	line, err := s.fitRead(ctx, text)
	if err != nil || line == "" {
		return text, err
	}
	if note != "" {
		line += "\n" + note
	}
	return fileAnswer(s, file, line, data, args)
}

// fileAnswer returns a page of a file, with the note if it is not "".
func fileAnswer(s *Scope, file, note string, data []byte, args tools.Args) (string, error) {
	room := s.Limits.Answer - headRoom
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return binary(file, note, data, args, min(room, pageBytes))
	}
	text, err := page(file, string(data), args, room)
	if err == nil && note != "" {
		text = printable.Lines(note) + "\n" + text
	}
	return text, err
}

// missingFile returns an error that lists files that the skill has, within the limit of an
// answer.
func missingFile(ctx context.Context, from *catalog.Catalog, skill, file string) error {
	files, _, err := from.Files(ctx, skill, 0)
	if err != nil {
		return readError(ctx, err, "%q of skill %q cannot be read", file, skill)
	}
	mean, and := suggestFile(files, file), ""
	if len(files) > 40 {
		files, and = files[:40], " and more"
	}
	return tools.ModelErrorf("skill %q has no file %q%s; its files are %s%s", skill, file, mean, jsonList(files, 40), and)
}

// page returns a range of lines. If it cuts a line, it says so. A line may take up to room bytes
// in JSON.
func page(file, text string, args tools.Args, room int) (string, error) {
	file = printable.Line(file)
	text = strings.TrimPrefix(text, "\uFEFF")
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	first, limit := 1, pageLines
	if n, ok := args.Count("offset"); ok && n > 0 {
		first = n
	}
	if n, ok := args.Count("limit"); ok && n > 0 {
		limit = min(n, pageLines)
	}
	if first > len(lines) {
		if len(lines) == 0 {
			return fmt.Sprintf("%s is empty", file), nil
		}
		return "", tools.ModelErrorf("%s has %d lines; line %d is after its end", file, len(lines), first)
	}
	var b strings.Builder
	last, size := first-1, 0
	for last < len(lines) && last-first+1 < limit {
		line := lines[last]
		if size > 0 && size+plainjson.Size(line) > min(room, pageBytes) {
			break
		}
		if start := plainjson.Prefix(line, room); len(start) < len(line) {
			line = start + fmt.Sprintf(" [line %d goes on: %d bytes in all; a command such as cut can take a part]\n", last+1, len(line))
		}
		b.WriteString(line)
		size += plainjson.Size(line)
		last++
	}
	head := fmt.Sprintf("%s, lines %d to %d of %d", file, first, last, len(lines))
	if last < len(lines) {
		head += fmt.Sprintf(" (go on with offset %d)", last+1)
	}
	return head + "\n" + strings.TrimSuffix(b.String(), "\n"), nil
}

// binary returns a range of bytes that takes at most room bytes in base64.
func binary(file, note string, data []byte, args tools.Args, room int) (string, error) {
	first, _ := args.Count("offset")
	if first > len(data) {
		return "", tools.ModelErrorf("%s has %d bytes; byte %d is after its end", file, len(data), first)
	}
	last := min(len(data), first+room/4*3)
	if n, ok := args.Count("limit"); ok && n > 0 {
		last = min(last, first+min(n, len(data)))
	}
	next := 0
	if last < len(data) {
		next = last
	}
	var warnings []printable.Text
	if note != "" {
		warnings = []printable.Text{printable.Text(note)}
	}
	return plainjson.Encode(struct {
		Path     printable.Text   `json:"path"`
		MIME     string           `json:"mime_type"`
		Size     int              `json:"size_bytes"`
		Offset   int              `json:"offset,omitempty"`
		Next     int              `json:"next_offset,omitempty"`
		Base64   string           `json:"base64"`
		Warnings []printable.Text `json:"warnings,omitempty"`
	}{printable.Text(file), collect.MIME(file, data[:min(len(data), headBytes)]), len(data), first, next, base64.StdEncoding.EncodeToString(data[first:last]), warnings})
}
