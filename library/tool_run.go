package library

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/skillneeds"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/skillmd"
	"github.com/satchel-go/satchel/tools"
)

// runAnswer is the JSON answer of run.
type runAnswer struct {
	Action      string                     `json:"action"`
	Status      string                     `json:"status"`
	CanonicalID string                     `json:"canonicalId"`
	Name        string                     `json:"name"`
	VersionRef  string                     `json:"versionRef"`
	Parameters  map[string]json.RawMessage `json:"parameters"`
	Part        int                        `json:"part"`
	Parts       int                        `json:"parts"`
	Next        *next                      `json:"next,omitempty"`
	Answer      string                     `json:"answer,omitempty"`
	Warnings    []printable.Text           `json:"warnings,omitempty"`
}

// run loads a skill with the values of its parameters and the requested docs.
func (r *reading) run() (string, error) {
	o, err := r.openToRun()
	if err != nil {
		return "", err
	}
	by, err := o.hiddenBy(r.ctx)
	if err != nil {
		return "", err
	}
	if by != "" {
		message := fmt.Sprintf("skill %q may not be started by a model (%s); ask the user to start it", o.Name, by)
		return encode(failure{Error: "blocked", Message: printable.Text(message), CanonicalID: o.ID}), nil
	}
	data, err := o.read(r.ctx, skillFile)
	if err != nil {
		return "", err
	}
	doc, _, err := skillmd.Parse(data, skillmd.WithDirName(o.Name))
	if err != nil {
		return "", invalid("skill %q cannot be read: %v", o.Name, err)
	}
	given := map[string]json.RawMessage{}
	if err := r.args.Value("parameters", &given); err != nil {
		return "", err
	}
	values, warnings, wrong := fill(paramsOf(doc.Skill.Metadata), given)
	if wrong != "" {
		return "", tools.ModelErrorf("%s", wrong)
	}
	body, err := render(doc.Body, values)
	if err != nil {
		return "", err
	}
	pieces := parts(body, maxPart, r.limit, func(string) int { return 0 })
	part, err := r.part(len(pieces))
	if err != nil {
		return "", err
	}
	skill := o.Front
	skill.Context, skill.Agent, skill.Model = doc.Field("context"), doc.Field("agent"), doc.Field("model")
	if o.Source != "file" {
		skill.ID, skill.Revision, skill.Editable = o.ID, o.VersionRef, true
	}
	if skill.Name, err = r.nameFor(o); err != nil {
		return "", err
	}
	bring := skilltools.ExternalSkill{Skill: skill, Text: contentOf(pieces[0])}
	if part > 1 {
		bring.Docs = append(bring.Docs, skilltools.ExternalDoc{Name: fmt.Sprintf("%s#%d", skillFile, part), Content: contentOf(pieces[part-1])})
	}
	docs, missing, err := r.docs(o)
	if err != nil {
		return "", err
	}
	bring.Docs, warnings = append(bring.Docs, docs...), append(warnings, missing...)
	out := runAnswer{Action: "run", Status: "loaded", CanonicalID: o.ID, Name: o.Name, VersionRef: o.VersionRef, Parameters: values, Part: part, Parts: len(pieces), Warnings: printable.Texts(append(warnings, o.warnings...))}
	if len(encode(out.Parameters)) > maxMetadata {
		out.Parameters = map[string]json.RawMessage{}
		out.Warnings = append(out.Warnings, "parameters are long: they are in the text")
	}
	bring.Whole, bring.ForkAnswer = body, func(text string) string { return out.forked(text, r.limit) }
	if part < len(pieces) {
		out.Next = &next{part + 1}
	}
	return skilltools.LoadExternal(r.ctx, r.scope, bring, func(_ *state.Record, lines []string, receipt string) (string, error) {
		return out.encode(skill.Name, lines, receipt), nil
	})
}

// forked returns the answer of the call if the skill has run as an agent of its own, whose answer is
// text. It cuts text so that the JSON has at most limit bytes.
func (a runAnswer) forked(text string, limit int) string {
	a.Status, a.Part, a.Parts, a.Next = "forked", 1, 1, nil
	whole := len(text)
	for a.Answer = text; ; {
		answer := encode(a)
		if len(answer) <= limit || text == "" {
			return answer
		}
		text = strings.ToValidUTF8(text[:len(text)/2], "")
		a.Answer = fmt.Sprintf("%s\n[the answer was cut: it had %d bytes; ask for less]", text, whole)
	}
}

// hiddenBy returns the field or the file of the skill that says that a model may not start it, "" for
// none.
func (o *openSkill) hiddenBy(ctx context.Context) (string, error) {
	if !o.ModelInvocation {
		return "disable-model-invocation", nil
	}
	if !slices.ContainsFunc(o.list, func(f File) bool { return f.Path == skillneeds.AgentFile && f.Size <= skillneeds.MaxAgentFile }) {
		return "", nil
	}
	text, err := o.read(ctx, skillneeds.AgentFile)
	if err != nil {
		return "", err
	}
	if isHidden, _ := skillneeds.HidesFromModel(text); isHidden {
		return skillneeds.AgentFile, nil
	}
	return "", nil
}

// openToRun opens the skill of the call.
func (r *reading) openToRun() (*openSkill, error) {
	name := r.args.Text("skill")
	if name == "" {
		return nil, tools.ModelErrorf("skill is missing: name the skill to run")
	}
	f, err := r.find(name)
	if err != nil {
		return nil, err
	}
	if f.State == stateArchived {
		return nil, refuse("unknown", ErrUnknown, "unknown skill %q: it is archived", f.ID)
	}
	return r.editor.open(r.ctx, r.scope, r.actor, f, "", true)
}

// docs returns the requested docs of the skill, and a warning for each one that it does not have.
func (r *reading) docs(o *openSkill) (docs []skilltools.ExternalDoc, warnings []string, err error) {
	for _, name := range r.args.Texts("docs") {
		text, err := o.read(r.ctx, name)
		if err != nil || !utf8.Valid(text) || len(text) > maxDoc {
			if r.ctx.Err() != nil {
				return nil, nil, r.ctx.Err()
			}
			warnings = append(warnings, fmt.Sprintf("the skill has no doc %q", printable.Cut(name, 200)))
			continue
		}
		docs = append(docs, skilltools.ExternalDoc{Name: name, Content: contentOf(string(text))})
	}
	return docs, warnings, nil
}

// encode returns the answer as JSON. It adds the lines about other skills as warnings, and the
// receipt if there is one. name is the name under which the skill was loaded.
func (a runAnswer) encode(name string, lines []string, receipt string) string {
	a.Warnings = slices.Clone(a.Warnings)
	for _, l := range lines {
		if l != "loaded: "+name {
			a.Warnings = append(a.Warnings, printable.Text(l))
		}
	}
	text := encode(a)
	if receipt != "" {
		text = strings.TrimSuffix(text, "}") + `,"receipt":` + encode(receipt) + "}"
	}
	return text
}

// nameFor returns the name under which a skill is loaded: its own, or its id if another skill has
// the same name.
func (r *reading) nameFor(o *openSkill) (string, error) {
	skills, err := r.skills(false)
	if err != nil {
		return "", err
	}
	for _, f := range skills {
		if f.ID != o.ID && skilltext.CleanName(f.Name) == skilltext.CleanName(o.Name) {
			return o.ID, nil
		}
	}
	return o.Name, nil
}

func contentOf(text string) catalog.Content {
	return catalog.Content{Text: text, Digest: session.Digest(text)}
}
