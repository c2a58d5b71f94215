package library

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// fileSize is a file as inspect lists it.
type fileSize struct {
	Path printable.Text `json:"path"`
	Size int64          `json:"size"`
}

// inspectAnswer is the JSON answer of inspect.
type inspectAnswer struct {
	Action string `json:"action"`
	entry
	Metadata   map[string]any   `json:"metadata"`
	Parameters []param          `json:"parameters"`
	Files      []fileSize       `json:"files"`
	Path       printable.Text   `json:"path"`
	Content    *string          `json:"content,omitempty"`
	Numbered   *string          `json:"contentWithLineNumbers,omitempty"`
	Base64     string           `json:"contentBase64,omitempty"`
	MIME       string           `json:"mimeType,omitempty"`
	First      int              `json:"firstLine,omitempty"`
	Last       int              `json:"lastLine,omitempty"`
	Lines      int              `json:"totalLines,omitempty"`
	Part       int              `json:"part"`
	Parts      int              `json:"parts"`
	Next       *next            `json:"next,omitempty"`
	SHA256     string           `json:"sha256"`
	Reviewed   bool             `json:"reviewed"`
	Warnings   []printable.Text `json:"warnings"`
}

// next holds the arguments for the part of a text after this one.
type next struct {
	Part int `json:"part"`
}

func (r *reading) inspect() (string, error) {
	name := r.args.Text("skill")
	if name == "" {
		return "", tools.ModelErrorf("skill is missing: name the skill to inspect")
	}
	f, err := r.find(name)
	if err != nil {
		return "", err
	}
	o, err := r.editor.open(r.ctx, r.scope, r.actor, f, r.args.Text("version"), false)
	if err != nil {
		return "", err
	}
	path := r.args.Text("path")
	if path == "" {
		path = skillFile
	}
	if !slices.ContainsFunc(o.list, func(f File) bool { return f.Path == path }) {
		var names []string
		for _, f := range o.list {
			names = append(names, f.Path)
		}
		return "", tools.ModelErrorf("there is no file %q; files are %s", printable.Cut(path, 200), printable.Cut(strings.Join(names, ", "), 2000))
	}
	data, err := o.read(r.ctx, path)
	if err != nil {
		return "", err
	}
	metadata, err := o.metadata(r.ctx)
	if err != nil {
		return "", err
	}
	out := inspectAnswer{
		Action: "inspect", entry: r.editor.describe(&o.Descriptor), Metadata: metadata, Parameters: paramsOf(o.Front.Metadata),
		Files: []fileSize{}, Path: printable.Text(path), SHA256: session.Digest(string(data)), Reviewed: o.Reviewed, Warnings: printable.Texts(append([]string{}, o.warnings...)),
	}
	if out.Parameters == nil {
		out.Parameters = []param{}
	}
	for _, f := range o.list {
		out.Files = append(out.Files, fileSize{printable.Text(f.Path), f.Size})
	}
	if len(encode(out.Metadata)) > maxMetadata {
		out.Metadata, out.Parameters = map[string]any{}, []param{}
		out.Warnings = append(out.Warnings, "metadata is long: it is in the text")
	}
	if len(encode(out.Files)) > maxFileList {
		out.Files = []fileSize{}
		out.Warnings = append(out.Warnings, printable.Text(fmt.Sprintf("the %d files are too many to be listed", len(o.list))))
	}
	return r.show(&out, data)
}

// metadata returns the metadata of the front matter: text as the author wrote it, and lists and
// maps as JSON.
func (o *openSkill) metadata(ctx context.Context) (map[string]any, error) {
	out := make(map[string]any, len(o.Front.Metadata))
	for name, text := range o.Front.Metadata {
		out[name] = text
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(o.Front.Metadata)), func(text string) bool { return strings.ContainsAny(text[:min(1, len(text))], "[{") }) {
		return out, nil
	}
	text, err := o.read(ctx, skillFile)
	if err != nil {
		return nil, err
	}
	fields, _ := skilltext.Fields(text)["metadata"].(map[string]any)
	for name, value := range fields {
		switch value.(type) {
		case []any, map[string]any:
			if text, ok := o.Front.Metadata[name]; ok && json.Valid([]byte(text)) {
				out[name] = json.RawMessage(text)
			}
		}
	}
	return out, nil
}

// show puts the requested part of a text into the answer.
func (r *reading) show(out *inspectAnswer, data []byte) (_ string, err error) {
	room := r.limit - len(encode(out)) - 512
	if !utf8.Valid(data) {
		size := max(3, min(maxPart, room*3/4)/3*3)
		out.Parts, out.MIME = max(1, (len(data)+size-1)/size), http.DetectContentType(data)
		if out.Part, err = r.part(out.Parts); err != nil {
			return "", err
		}
		out.Base64 = base64.StdEncoding.EncodeToString(data[(out.Part-1)*size : min(len(data), out.Part*size)])
		out.more()
		return encode(out), nil
	}
	text, view := string(data), r.args.Text("view")
	limit, size := maxBoth, bothSize
	switch view {
	case "raw":
		limit, size = maxPart, plainSize
	case "numbered":
		limit, size = maxPart, numberedSize
	}
	pieces := parts(text, limit, room, size)
	out.Parts, out.Lines = len(pieces), lineCount(text)
	if out.Part, err = r.part(out.Parts); err != nil {
		return "", err
	}
	before, content := strings.Join(pieces[:out.Part-1], ""), pieces[out.Part-1]
	out.First = strings.Count(before, "\n") + 1
	out.Last = out.First + max(0, lineCount(content)-1)
	if view != "numbered" {
		out.Content = &content
	}
	if view != "raw" {
		n := withNumbers(content, out.First)
		out.Numbered = &n
	}
	out.more()
	return encode(out), nil
}

func (i *inspectAnswer) more() {
	if i.Part < i.Parts {
		i.Next = &next{i.Part + 1}
	}
}

// part returns the number of the requested part, 1 by default.
func (r *reading) part(of int) (int, error) {
	part, given := r.args.Count("part")
	if !given {
		part = 1
	}
	if part < 1 || part > of {
		return 0, tools.ModelErrorf("there is no part %d of %d", part, of)
	}
	return part, nil
}

func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// withNumbers puts a number and a tab before each line of s. The number is right-aligned to 6.
func withNumbers(s string, first int) string {
	var b strings.Builder
	n := first
	for line := range strings.Lines(s) {
		fmt.Fprintf(&b, "%6d\t%s", n, line)
		n++
	}
	return b.String()
}
