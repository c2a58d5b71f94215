package skillset

import (
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/skillmd"
)

// ErrRemote is wrapped when a file cannot be had from the server of its skill.
var ErrRemote = errors.New("the skill's own server does not give it")

// Remote makes a source that is not trusted, such as mcpsource.Source, one for Open.
// The ids of its skills are the label and the path of their URI, joined by dots, so
// "skill://team/pdf/SKILL.md" is "acme.team.pdf". They are for reading only, have
// neither manifest nor grants, and give way to all other skills of their ids. Nothing
// of them is fetched before it is read.
func Remote(label string, source catalog.Source) catalog.Source { return &remote{source, label} }

type remote struct {
	catalog.Source
	label string
}

// Name is the label, for findings.
func (r *remote) Name() string { return r.label }

// skill makes a skill of an entry.
func (r *remote) skill(e source.Entry) (*Skill, []skillmd.Diagnostic) {
	refuse := func(code skillmd.Code, err error) (*Skill, []skillmd.Diagnostic) {
		return nil, []skillmd.Diagnostic{{File: r.label + ":" + e.ID, Code: code, Severity: skillmd.Error, Message: err.Error()}}
	}
	doc, _, err := skillmd.Parse(e.Head)
	if err != nil {
		return refuse("not-a-skill", err)
	}
	place := doc.Skill.Name
	if _, path, ok := strings.Cut(e.ID, "://"); ok {
		place = strings.ReplaceAll(strings.TrimSuffix(path, "/"+skillFile), "/", ".")
	}
	id := r.label + "." + place
	if err := CheckID(id); err != nil {
		return refuse("skill-id", err)
	}
	s := &Skill{
		Name: doc.Skill.Name, FrontMatter: skillmd.Fields(e.Head), Head: e.Head, Files: e.Files, Digest: digestOf(e.Files), Hidden: doc.Skill.Hidden,
		Origin: e.Origin, source: r.Source, id: e.ID, revision: e.Revision,
	}
	if s.Origin == "" {
		s.Origin = fmt.Sprintf("the server %q", r.label)
	}
	s.standIn(id, &doc.Skill)
	return s, nil
}
