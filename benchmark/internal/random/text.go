package random

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/benchmark/internal/scenario"
)

// words are one token each, with the space before them.
var words = strings.Fields(`about above account address after again agent answer area around ask back base before begin below
better between board book both bring build call case cause center change check city class clear close code common company
consider control cost country course cover create cut data day decide deep degree depend detail develop direct door draw drive
early east easy effect end energy enough even event every example face fact fall family far fast feel few field figure fill
final find fire first follow food force form free friend front full game general get give good great green ground group grow
half hand happen hard head hear heart heat help high hold home hot hour house idea important include increase interest job
keep kind know land language large last late law lead learn leave left less letter level life light line list little live
local long look lose lot low machine main make map mark market matter mean measure meet method middle might mind minute money
month morning most move name nature near need never new next night north note nothing number object offer office often old
open order other outside own page paper part pass pay people person piece place plan plant play point position possible power
present press problem process produce product provide public pull put question quick quite rain raise range rate reach read
ready real reason record red remember rest result return right river road rock room round rule run safe same say school
science sea second see seem send sense serve service set several shape short show side simple size small social sort sound
south space speak special stand star start state step still stop story street strong study subject such sure surface system
table take talk teach team tell term test thing think thought through time together top total toward town trade train travel
tree true turn type under unit until use usual value very view visit voice wait walk wall want war warm watch water way
weather week weight well west whole wide wind window wish without woman wonder wood word work world write year young`)

// skillName returns the name of the i-th skill.
func skillName(i int) string {
	return words[(i*37+11)%len(words)] + "-" + words[(i*53+7)%len(words)]
}

// docName returns the name of the i-th doc.
func docName(i int) string { return fmt.Sprintf("docs/part-%d.md", i+1) }

// sectionName returns the anchor of a section of a doc. Its heading has blanks in place of "-".
func sectionName(doc, i int) string { return skillName(doc*17 + i + 100) }

// sectioned returns the text of a doc with so many sections, or without headings if there are none.
func sectioned(r *rand.Rand, tokens, doc, sections int) string {
	if sections == 0 {
		return text(r, tokens)
	}
	var b strings.Builder
	for i := range sections {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", strings.ReplaceAll(sectionName(doc, i), "-", " "), text(r, tokens/sections))
	}
	return strings.TrimSpace(b.String())
}

// text returns a text of so many tokens, with twelve words a line.
func text(r *rand.Rand, tokens int) string {
	var b strings.Builder
	for i := range tokens * 12 / 13 {
		switch {
		case i > 0 && i%12 == 0:
			b.WriteByte('\n')
		case i > 0:
			b.WriteByte(' ')
		}
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

const instruction = "You help a small team with its work. Look up what you need, follow the skills that fit, and keep answers short."

// Scenario returns the plan with generated texts. It does not depend on the skills' texts.
func (p *Plan) Scenario() (*scenario.Scenario, error) {
	r := rand.New(rand.NewPCG(p.Seed, 1))
	s := scenario.Scenario{Name: p.Name, Instruction: instruction, Again: p.Policy == Again}
	calls := 0
	for _, t := range p.Turns {
		turn := scenario.Turn{User: t.Prompt, IdleSeconds: t.Idle.Seconds()}
		if turn.User == "" {
			turn.User = text(r, t.User)
		}
		for _, step := range t.Steps {
			if step.Skill < 0 {
				calls++
				turn.Steps = append(turn.Steps, scenario.Step{
					Tool: "lookup", Args: json.RawMessage(fmt.Sprintf(`{"query":"%s %d"}`, words[r.IntN(len(words))], calls)), Result: text(r, step.Result),
				})
				continue
			}
			need := scenario.Step{Need: p.Skills[step.Skill].Name}
			for _, doc := range step.Docs {
				name := docName(doc)
				if p.Policy == Reader && p.Skills[step.Skill].Sections > 0 {
					name += "#" + sectionName(doc, step.Section)
				}
				need.Docs = append(need.Docs, name)
			}
			turn.Steps = append(turn.Steps, need)
		}
		turn.Steps = append(turn.Steps, scenario.Step{Say: text(r, t.Say)})
		s.Turns = append(s.Turns, turn)
	}
	data, err := json.Marshal(&s)
	if err != nil {
		return nil, fmt.Errorf("write scenario: %w", err)
	}
	return scenario.Parse(data)
}

// WriteSkills writes the skills of the plan below a directory.
func (p *Plan) WriteSkills(dir string) error {
	r := rand.New(rand.NewPCG(p.Seed, 2))
	for i, s := range p.Skills {
		description := s.Description
		if description == "" {
			description = strings.ReplaceAll(text(r, 10+r.IntN(50)), "\n", " ") + "."
		}
		body := fmt.Sprintf("---\nname: %s\ndescription: %q\n---\n# %s\n\n%s\n", s.Name, description, s.Name, text(r, s.Body))
		err := write(filepath.Join(dir, s.Name, "SKILL.md"), body)
		for j, size := range s.Docs {
			doc := fmt.Sprintf("# Part %d of %s\n\n%s\n", j+1, p.Skills[i].Name, sectioned(r, size, j, s.Sections))
			err = errors.Join(err, write(filepath.Join(dir, s.Name, filepath.FromSlash(docName(j))), doc))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // made to be read by others
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644) //nolint:gosec // made to be read by others
}
