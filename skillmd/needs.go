package skillmd

import (
	"cmp"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/internal/text/skillneeds"
)

// needs reads what the skill declares to need. line stands for unknown lines. What is malformed is
// a finding and never makes the skill unusable.
func (p *parser) needs(line int) {
	found, problems := skillneeds.Read(skillneeds.FrontMatter{
		Metadata: p.metadataField, Requires: p.extra("requires"), Secrets: p.extra("secrets"),
	})
	p.doc.Skill.Needs = found
	for _, problem := range problems {
		p.report(oddity, cmp.Or(problem.Line, line), codeNeeds, "%s", problem.Message)
	}
}

// extra returns a field that the specification does not define, nil for none.
func (p *parser) extra(key string) *yaml.Node {
	n, ok := p.doc.Extra[key]
	if !ok {
		return nil
	}
	return &n
}
