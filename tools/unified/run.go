package unified

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/search"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/skillmd"
	"github.com/satchel-go/satchel/tools"
)

// Run is runSkill.
func Run() tools.Operation {
	return tools.Operation{
		Name:        "runSkill",
		Description: "Find (list), read (inspect) and start (run) skills. A part says what comes next.",
		Fields: []tools.Field{
			{Name: "skill", Kind: tools.Text, Description: "canonicalId or name", Aliases: []string{"skillRef", "skill_ref", "canonicalId", "canonical_id", "name"}},
			{Name: "action", Kind: tools.Text, Enum: []string{"list", "inspect", "run"}, Description: "default: run if a skill is named, else list"},
			{Name: "query", Kind: tools.Texts, Aliases: []string{"queries", "q"}},
			{Name: "source", Kind: tools.Text, Enum: []string{"db", "plugin", "file"}},
			{Name: "activeOnly", Kind: tools.Value, Schema: map[string]any{"type": "boolean"}, Aliases: []string{"active_only"}, Quiet: true},
			{Name: "limit", Kind: tools.Count},
			{Name: "cursor", Kind: tools.Text},
			{Name: "version", Kind: tools.Text, Description: "v3, a versionRef or base"},
			{Name: "path", Kind: tools.Text, Description: "file to inspect"},
			{Name: "view", Kind: tools.Text, Enum: []string{"both", "raw", "numbered"}},
			{Name: "part", Kind: tools.Count},
			{Name: "parameters", Kind: tools.Value, Schema: map[string]any{"type": "object"}, Aliases: []string{"params"}},
			{Name: "docs", Kind: tools.Texts},
		},
		Always:      true,
		Changes:     true,
		ChangesWith: func(args tools.Args) bool { return actionOf(args) == "run" },
		Delivers:    true,
		Provides:    []string{"skill_load"},
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
	d, actor, answer, err := desk(ctx, s)
	if d == nil {
		return answer, err
	}
	limit := s.Limits.OrDefaults().Answer
	r := &reading{ctx: ctx, scope: s, args: args, desk: d, actor: actor, limit: limit}
	var text string
	switch actionOf(args) {
	case "list":
		text, err = r.list()
	case "inspect":
		text, err = r.inspect()
	default:
		text, err = r.run()
	}
	var told tools.ModelError
	switch {
	case err == nil:
		return text, nil
	case errors.As(err, &told):
		return fail("invalid", string(told)), nil
	}
	return d.failed(ctx, err, limit)
}

// reading is one call of runSkill.
type reading struct {
	ctx   context.Context
	scope *tools.Scope
	args  tools.Args
	desk  *Desk
	actor library.Actor
	limit int // of the answer, in bytes
}

// entry is a skill as answers show it.
type entry struct {
	CanonicalID            string             `json:"canonicalId"`
	Source                 string             `json:"source"`
	Name                   string             `json:"name"`
	DisplayName            string             `json:"displayName"`
	Description            string             `json:"description"`
	Plugin                 *library.PluginRef `json:"plugin,omitempty"`
	Editable               bool               `json:"editable"`
	ModelInvocationAllowed bool               `json:"modelInvocationAllowed"`
	VersionRef             string             `json:"versionRef,omitempty"`
	State                  string             `json:"state"`
}

func describe(d *library.Descriptor) entry {
	return entry{d.ID, d.Source, d.Name, d.DisplayName, d.Description, d.Plugin, d.Editable, d.ModelInvocation, d.VersionRef, string(d.State)}
}

// skillList is the answer of list.
type skillList struct {
	Action     string   `json:"action"`
	Skills     []entry  `json:"skills"`
	Total      int      `json:"total"`
	NextCursor string   `json:"nextCursor,omitempty"`
	Warnings   []string `json:"warnings,omitempty"`
}

const (
	standardList = 20
	maxList      = 100
)

func (r *reading) list() (string, error) {
	all := false
	var active *bool
	if err := r.args.Value("activeOnly", &active); err != nil {
		return "", err
	}
	if active != nil {
		all = !*active
	}
	skills, err := r.desk.shelf(r.ctx, r.scope, r.actor, all)
	if err != nil {
		return "", err
	}
	source := r.args.Text("source")
	skills = slices.DeleteFunc(skills, func(f found) bool {
		return !f.ModelInvocation || source != "" && f.Source != source
	})
	if q := r.args.Texts("query"); len(q) > 0 {
		skills = ranked(skills, q)
	}
	out := skillList{Action: "list", Skills: []entry{}, Total: len(skills)}
	limit, given := r.args.Count("limit")
	if !given {
		limit = standardList
	}
	if clamped := min(max(limit, 1), maxList); clamped != limit {
		out.Warnings = append(out.Warnings, fmt.Sprintf("limit is 1 to %d: taken as %d", maxList, clamped))
		limit = clamped
	}
	start, err := r.after(skills)
	if err != nil {
		return "", err
	}
	size := len(encode(out)) + 256
	for i := start; i < len(skills); i++ {
		item := describe(&skills[i].Descriptor)
		n := len(encode(item)) + 1
		if len(out.Skills) == limit || size+n > r.limit && len(out.Skills) > 0 {
			out.NextCursor = cursorOf(skills[i-1])
			break
		}
		size += n
		out.Skills = append(out.Skills, item)
	}
	return encode(out), nil
}

// cursorOf names the last skill that was listed, so that it means the same when
// others come and go.
func cursorOf(f found) string {
	return base64.RawURLEncoding.EncodeToString([]byte(f.Name + "\n" + f.ID))
}

// after returns where a list goes on.
func (r *reading) after(skills []found) (int, error) {
	cursor := r.args.Text("cursor")
	if cursor == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	name, id, ok := strings.Cut(string(raw), "\n")
	if err != nil || !ok {
		return 0, tools.ModelErrorf("the cursor is none that a list has given")
	}
	for i, f := range skills {
		if f.ID == id {
			return i + 1, nil
		}
	}
	if len(r.args.Texts("query")) > 0 {
		return len(skills), nil // what it named is gone, and a ranking has no other place for it
	}
	for i, f := range skills {
		if f.Name > name || f.Name == name && f.ID > id {
			return i, nil
		}
	}
	return len(skills), nil
}

// ranked searches the skills.
func ranked(skills []found, phrasings []string) []found {
	documents := make([]search.Document, len(skills))
	for i, f := range skills {
		documents[i] = search.Document{Name: f.Name, Description: f.Description}
	}
	return pick(skills, documents, phrasings)
}

// fileSize is a file as inspect lists it.
type fileSize struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

// inspected is the answer of inspect.
type inspected struct {
	Action string `json:"action"`
	entry
	Metadata   map[string]string `json:"metadata"`
	Parameters []Param           `json:"parameters"`
	Files      []fileSize        `json:"files"`
	Path       string            `json:"path"`
	Content    *string           `json:"content,omitempty"`
	Numbered   *string           `json:"contentWithLineNumbers,omitempty"`
	Base64     string            `json:"contentBase64,omitempty"`
	MIME       string            `json:"mimeType,omitempty"`
	First      int               `json:"firstLine,omitempty"`
	Last       int               `json:"lastLine,omitempty"`
	Lines      int               `json:"totalLines,omitempty"`
	Part       int               `json:"part"`
	Parts      int               `json:"parts"`
	Next       *next             `json:"next,omitempty"`
	SHA256     string            `json:"sha256"`
	Reviewed   bool              `json:"reviewed"`
	Warnings   []string          `json:"warnings"`
}

// next says how to get the part after this one.
type next struct {
	Part int `json:"part"`
}

func (r *reading) inspect() (string, error) {
	name := r.args.Text("skill")
	if name == "" {
		return "", tools.ModelErrorf("skill is missing: name the skill to inspect")
	}
	f, err := r.desk.find(r.ctx, r.scope, r.actor, name)
	if err != nil {
		return "", err
	}
	o, err := r.desk.open(r.ctx, r.scope, r.actor, f, r.args.Text("version"), false)
	if err != nil {
		return "", err
	}
	path := r.args.Text("path")
	if path == "" {
		path = skillFile
	}
	if !slices.ContainsFunc(o.list, func(f library.File) bool { return f.Path == path }) {
		var names []string
		for _, f := range o.list {
			names = append(names, f.Path)
		}
		return "", tools.ModelErrorf("there is no file %q; files are %s", cut(path, 200), cut(strings.Join(names, ", "), 2000))
	}
	data, err := o.read(r.ctx, path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	out := inspected{
		Action: "inspect", entry: describe(&o.Descriptor), Parameters: paramsOf(o.Front.Metadata),
		Files: []fileSize{}, Path: path, SHA256: hex.EncodeToString(sum[:]), Reviewed: o.Reviewed, Warnings: append([]string{}, o.warnings...),
	}
	if out.Metadata = o.Front.Metadata; out.Metadata == nil {
		out.Metadata = map[string]string{}
	}
	if out.Parameters == nil {
		out.Parameters = []Param{}
	}
	for _, f := range o.list {
		out.Files = append(out.Files, fileSize{f.Path, f.Size})
	}
	if len(encode(out.Metadata)) > 8<<10 {
		out.Metadata, out.Parameters = map[string]string{}, []Param{}
		out.Warnings = append(out.Warnings, "metadata is long: it is in the text")
	}
	if len(encode(out.Files)) > 12<<10 {
		out.Files = []fileSize{}
		out.Warnings = append(out.Warnings, fmt.Sprintf("the %d files are too many to be listed", len(o.list)))
	}
	return r.show(&out, data)
}

// show fills the answer with the part that was asked for.
func (r *reading) show(out *inspected, data []byte) (string, error) {
	room := r.limit - len(encode(out)) - 512
	part, given := r.args.Count("part")
	if !given {
		part = 1
	}
	if !utf8.Valid(data) {
		size := max(3, min(maxPart, room*3/4)/3*3)
		out.Part, out.Parts, out.MIME = part, max(1, (len(data)+size-1)/size), http.DetectContentType(data)
		if part < 1 || part > out.Parts {
			return "", noPart(part, out.Parts)
		}
		out.Base64 = base64.StdEncoding.EncodeToString(data[(part-1)*size : min(len(data), part*size)])
		out.more()
		return encode(out), nil
	}
	text, view := string(data), r.args.Text("view")
	limit, size := maxBoth, both
	switch view {
	case "raw":
		limit, size = maxPart, once
	case "numbered":
		limit, size = maxPart, numbered
	}
	pieces := parts(text, limit, room, size)
	out.Part, out.Parts, out.Lines = part, len(pieces), lineCount(text)
	if part < 1 || part > len(pieces) {
		return "", noPart(part, len(pieces))
	}
	before := strings.Join(pieces[:part-1], "")
	content := pieces[part-1]
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

func (i *inspected) more() {
	if i.Part < i.Parts {
		i.Next = &next{i.Part + 1}
	}
}

func noPart(part, of int) error { return tools.ModelErrorf("there is no part %d of %d", part, of) }

func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// withNumbers puts its number, right-aligned to 6, and a tab before each line.
func withNumbers(s string, first int) string {
	var b strings.Builder
	n := first
	for line := range strings.Lines(s) {
		fmt.Fprintf(&b, "%6d\t%s", n, line)
		n++
	}
	return b.String()
}

// started is the answer of run.
type started struct {
	Action      string                     `json:"action"`
	Status      string                     `json:"status"`
	CanonicalID string                     `json:"canonicalId"`
	Name        string                     `json:"name"`
	VersionRef  string                     `json:"versionRef"`
	Parameters  map[string]json.RawMessage `json:"parameters"`
	Part        int                        `json:"part"`
	Parts       int                        `json:"parts"`
	Next        *next                      `json:"next,omitempty"`
	Warnings    []string                   `json:"warnings,omitempty"`
}

func (r *reading) run() (string, error) {
	f, err := r.desk.find(r.ctx, r.scope, r.actor, r.args.Text("skill"))
	if err != nil {
		return "", err
	}
	if f.State == library.Archived {
		return "", &library.Error{Code: "unknown", Message: fmt.Sprintf("unknown skill %q: it is archived", f.ID)}
	}
	o, err := r.desk.open(r.ctx, r.scope, r.actor, f, "", true)
	if err != nil {
		return "", err
	}
	if !o.ModelInvocation {
		return encode(failure{Error: "blocked", Message: fmt.Sprintf("skill %q may not be started by a model (disable-model-invocation); ask the user to start it", o.Name), CanonicalID: o.ID}), nil
	}
	data, err := o.read(r.ctx, skillFile)
	if err != nil {
		return "", err
	}
	doc, _, err := skillmd.Parse(data, skillmd.WithDirName(o.Name))
	if err != nil {
		return "", &library.Error{Code: "invalid", Message: fmt.Sprintf("skill %q cannot be read: %v", o.Name, err)}
	}
	given := map[string]json.RawMessage{}
	if err := r.args.Value("parameters", &given); err != nil {
		return "", err
	}
	values, warnings, wrong := fill(paramsOf(doc.Skill.Metadata), given)
	if wrong != "" {
		return "", tools.ModelErrorf("%s", wrong)
	}
	pieces := parts(render(doc.Body, values), maxPart, r.limit, func(string) int { return 0 })
	part, asked := r.args.Count("part")
	if !asked {
		part = 1
	}
	if part < 1 || part > len(pieces) {
		return "", noPart(part, len(pieces))
	}
	skill := o.Front
	if skill.Name, err = r.nameFor(o); err != nil {
		return "", err
	}
	bring := tools.Brought{Skill: skill, Text: contentOf(pieces[0])}
	if part > 1 {
		bring.Docs = append(bring.Docs, tools.BroughtDoc{Name: fmt.Sprintf("%s#%d", skillFile, part), Content: contentOf(pieces[part-1])})
	}
	for _, name := range r.args.Texts("docs") {
		text, err := o.read(r.ctx, name)
		if err != nil || !utf8.Valid(text) || len(text) > 1<<20 {
			if r.ctx.Err() != nil {
				return "", r.ctx.Err()
			}
			warnings = append(warnings, fmt.Sprintf("the skill has no doc %q", cut(name, 200)))
			continue
		}
		bring.Docs = append(bring.Docs, tools.BroughtDoc{Name: name, Content: contentOf(string(text))})
	}
	out := started{Action: "run", Status: "loaded", CanonicalID: o.ID, Name: o.Name, VersionRef: o.VersionRef, Parameters: values, Part: part, Parts: len(pieces), Warnings: append(warnings, o.warnings...)}
	if part < len(pieces) {
		out.Next = &next{part + 1}
	}
	return tools.Bring(r.ctx, r.scope, bring, func(_ *session.Record, lines []string, receipt string) (string, error) {
		said := out
		for _, l := range lines {
			if l != "loaded: "+skill.Name {
				said.Warnings = append(said.Warnings[:len(said.Warnings):len(said.Warnings)], l)
			}
		}
		text := encode(said)
		if receipt != "" {
			text = strings.TrimSuffix(text, "}") + `,"receipt":` + encode(receipt) + "}"
		}
		return text, nil
	})
}

// nameFor is the name under which a skill is loaded: its own, or its id where another
// skill has that too.
func (r *reading) nameFor(o *files) (string, error) {
	skills, err := r.desk.shelf(r.ctx, r.scope, r.actor, false)
	if err != nil {
		return "", err
	}
	for _, f := range skills {
		if f.ID != o.ID && skillmd.CleanName(f.Name) == skillmd.CleanName(o.Name) {
			return o.ID, nil
		}
	}
	return o.Name, nil
}

func contentOf(text string) catalog.Content {
	sum := sha256.Sum256([]byte(text))
	return catalog.Content{Text: text, Digest: hex.EncodeToString(sum[:])}
}
