package skillset

import (
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// ErrRemote is wrapped when the server of a skill does not return a file.
var ErrRemote = errors.New("the skill's own server does not give it")

// Remote returns a source for Open from one that is not trusted, such as mcpsource.Source. The
// ids of its skills are the label and the path of their URI, joined by dots:
// "skill://team/pdf/SKILL.md" is "acme.team.pdf". They can only be read, have neither manifest
// nor grants, and are hidden by all other skills with their ids. A file is fetched when it is
// read.
func Remote(label string, source catalog.Source) catalog.Source { return &remote{source, label} }

type remote struct {
	catalog.Source
	label string
}

// Name is the label, for findings.
func (r *remote) Name() string { return r.label }

// skill returns the skill of an entry, or nil and the reason.
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
		Name: doc.Skill.Name, FrontMatter: skilltext.Fields(e.Head), Head: e.Head, Files: e.Files, Digest: digestOf(e.Files), Hidden: doc.Skill.Hidden,
		Origin: e.Origin, source: r.Source, id: e.ID, revision: e.Revision,
	}
	if s.Origin == "" {
		s.Origin = fmt.Sprintf("the server %q", r.label)
	}
	s.standIn(id, &doc.Skill)
	return s, nil
}
