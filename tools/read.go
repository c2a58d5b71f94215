package tools

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/catalog"
)

const (
	// pageLines and pageBytes bound one answer of skill_read; a single line may
	// take up to longLine bytes, and a binary file up to maxBinary.
	pageLines = 1000
	pageBytes = 32 << 10
	longLine  = 256 << 10
	maxBinary = 128 << 10
)

// Read is skill_read: any file of a loaded skill, in pages.
func Read() Operation {
	return Operation{
		Name:        "skill_read",
		Description: "Read a file of a loaded skill. Text comes with its line range and total, binary as base64.",
		Fields: []Field{
			{Name: "path", Kind: Text, Required: true, Description: "relative to the skill's folder", Aliases: []string{"file_name"}},
			{Name: "skill", Kind: Text, Description: "default: the skill loaded last"},
			{Name: "offset", Kind: Count, Description: "first line, from 1", Aliases: []string{"start_line"}},
			{Name: "limit", Kind: Count, Description: "number of lines", Aliases: []string{"num_lines"}},
		},
		Always: true,
		Awaits: true,
		Needs:  []string{"skill_load"},
		Call:   read,
	}
}

func read(ctx context.Context, s *Scope, args Args) (string, error) {
	if ref := args.Text("path"); isRef(ref) {
		return readRef(ctx, s, ref, args)
	}
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	if len(rec.Active) == 0 {
		return "", tellf("no skill is loaded: call skill_load first")
	}
	name := rec.Active[len(rec.Active)-1].Skill
	if asked := args.Text("skill"); asked != "" {
		skill, err := findLoaded(s, rec, asked)
		if err != nil {
			return "", err
		}
		name = skill.Name
	}
	data, err := s.Catalog.ReadFile(ctx, name, args.Text("path"))
	file := cut(cleanPath(args.Text("path")), 200) // for the answer
	if err != nil {
		return "", missingFile(ctx, s, name, file, err)
	}
	return fileAnswer(file, data, args)
}

// fileAnswer answers text in pages and anything else whole.
func fileAnswer(file string, data []byte, args Args) (string, error) {
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return binary(file, data)
	}
	return page(file, string(data), args)
}

// missingFile says what the skill has instead, as far as that fits an answer.
func missingFile(ctx context.Context, s *Scope, skill, file string, err error) error {
	if !errors.Is(err, catalog.ErrNotExist) {
		return unreadable(ctx, err, "%q of skill %q cannot be read", file, skill)
	}
	files, more, listErr := s.Catalog.Files(ctx, skill, 40)
	if listErr != nil {
		return unreadable(ctx, err, "%q of skill %q cannot be read", file, skill)
	}
	and := ""
	if more {
		and = " and more"
	}
	return tellf("skill %q has no file %q; its files are %s%s", skill, file, jsonList(files, 40), and)
}

// page answers a range of lines. It never cuts without saying so.
func page(file, text string, args Args) (string, error) {
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
		return "", tellf("%s has %d lines; line %d is after its end", file, len(lines), first)
	}
	var b strings.Builder
	last := first - 1
	for last < len(lines) && last-first+1 < limit {
		line := lines[last]
		if b.Len() > 0 && b.Len()+len(line) > pageBytes {
			break
		}
		if len(line) > longLine {
			line = cut(line, longLine) + fmt.Sprintf(" [line %d goes on: %d bytes in all]\n", last+1, len(line))
		}
		b.WriteString(line)
		last++
	}
	head := fmt.Sprintf("%s, lines %d to %d of %d", file, first, last, len(lines))
	if last < len(lines) {
		head += fmt.Sprintf(" (go on with offset %d)", last+1)
	}
	return head + "\n" + strings.TrimSuffix(b.String(), "\n"), nil
}

func binary(file string, data []byte) (string, error) {
	mime := http.DetectContentType(data)
	if len(data) > maxBinary {
		return "", tellf("%q is %s of %d bytes; more than %d bytes of binary cannot be shown", file, mime, len(data), maxBinary)
	}
	out, err := json.Marshal(struct {
		Path   string `json:"path"`
		MIME   string `json:"mime_type"`
		Size   int    `json:"size_bytes"`
		Base64 string `json:"base64"`
	}{file, mime, len(data), base64.StdEncoding.EncodeToString(data)})
	return string(out), err
}
