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

// ErrRemote is wrapped if the server of a remote skill does not return a file.
var ErrRemote = errors.New("the skill's own server does not give it")

// Remote marks a source for Open as one that is not trusted, such as mcpsource.Source. The id of
// each skill is the label and the path of its URI, joined by dots: with the label "acme",
// "skill://team/pdf/SKILL.md" is "acme.team.pdf". These skills can only be read, and get no grants.
// A skill of another source with the same id hides them. A file is fetched when it is read.
func Remote(label string, source catalog.Source) catalog.Source { return &remote{source, label} }

// remote is a source that is not trusted.
type remote struct {
	catalog.Source
	label string
}

// Name returns the label, for diagnostics.
func (r *remote) Name() string { return r.label }

// skill returns the skill of an entry, or nil and a diagnostic with the reason.
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
	s.setDefaultManifest(id, &doc.Skill)
	return s, nil
}
