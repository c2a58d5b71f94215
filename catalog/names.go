package catalog

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// candidate is a usable skill with the name in its front matter, before nameSkills decides which
// skill gets the name.
type candidate struct {
	skill  core.Skill
	key    string // skilltext.CleanName of the name
	root   string // the name of the root
	folder string // in the root
	at     place
}

// AmbiguousError reports a plain name that several skills have, where [Ambiguous]
// is the rule. It wraps [ErrUnknownSkill].
type AmbiguousError struct {
	Name      string
	Qualified []string // the names to use instead
}

func (e *AmbiguousError) Error() string {
	quoted := make([]string, len(e.Qualified))
	for i, q := range e.Qualified {
		quoted[i] = fmt.Sprintf("%q", q)
	}
	last := len(quoted) - 1
	return fmt.Sprintf("%q is the name of %d skills: say %s or %s", e.Name, len(quoted), strings.Join(quoted[:last], ", "), quoted[last])
}

func (e *AmbiguousError) Unwrap() error { return ErrUnknownSkill }

// naming holds the names that skills have in a snapshot.
type naming struct {
	rule       Collisions
	skills     []core.Skill
	ambiguous  map[string][]string // key -> qualified names
	collisions []skillmd.Diagnostic
}

// nameSkills names the candidates, which are in the order of their rank.
func nameSkills(all []candidate, rule Collisions) *naming {
	n := &naming{rule: rule, ambiguous: map[string][]string{}, skills: make([]core.Skill, 0, len(all))}
	same := make(map[string][]int, len(all)) // key -> indices in all
	for i := range all {
		same[all[i].key] = append(same[all[i].key], i)
	}
	for i := range all {
		c := &all[i]
		rivals := same[c.key]
		skill := c.skill
		skill.Qualified = qualified(all, rivals, c)
		c.skill.Qualified = skill.Qualified
		if len(rivals) == 1 {
			if skill.Scope == core.ScopeRemote {
				skill.Name = skill.Qualified
			}
			n.skills = append(n.skills, skill)
			continue
		}
		n.nameContested(all, rivals, c, skill)
	}
	slices.SortFunc(n.skills, func(a, b core.Skill) int { return strings.Compare(a.Name, b.Name) })
	return n
}

// nameContested names candidate c, one of several rivals with the same name. rivals are indices
// in all, the highest rank first.
func (n *naming) nameContested(all []candidate, rivals []int, c *candidate, skill core.Skill) {
	owner := &all[rivals[0]]
	if skill.Origin != "" { // its qualified name is unique
		skill.Name = skill.Qualified
		n.skills = append(n.skills, skill)
		return
	}
	isOwner := owner == c && skill.Scope != core.ScopeRemote
	switch {
	case n.rule == Ambiguous:
		n.ambiguous[c.key] = append(n.ambiguous[c.key], skill.Qualified)
		skill.Name = skill.Qualified
	case isOwner:
	case owner.skill.Scope == core.ScopeRemote:
		skill.Name = skill.Qualified
	default:
		skill.Name, skill.Shadowed = skill.Qualified, true
	}
	n.skills = append(n.skills, skill)
	if owner == c {
		return
	}
	qualifier, _ := strings.CutSuffix(skill.Qualified, ":"+c.skill.Name)
	text := fmt.Sprintf("skill %q of %s is shadowed by %s; it loads as %q", c.skill.Name, qualifier, owner.skill.Place, skill.Qualified)
	if n.rule == Ambiguous {
		text = fmt.Sprintf("skill %q of %s has the name of %s; it loads as %q", c.skill.Name, qualifier, owner.skill.Place, skill.Qualified)
	}
	n.collisions = append(n.collisions, skillmd.Diagnostic{File: c.skill.Place, Code: CodeCollision, Severity: skillmd.Warning, Message: text})
}

// qualifiers returns what may stand before the name of a candidate: its scope, its root,
// and its root with the folder.
func (c *candidate) qualifiers() [3]string {
	folder := c.root
	if c.folder != "." {
		folder += "/" + scan.Printable(c.folder)
	}
	scope := c.skill.Scope.String()
	if c.skill.Origin != "" {
		scope = c.root // the label that the host gave the server
	}
	return [3]string{scope, c.root, folder}
}

// qualified returns the name of c behind the first qualifier that no rival has.
func qualified(all []candidate, rivals []int, c *candidate) string {
	own := c.qualifiers()
	for _, q := range own {
		taken := slices.ContainsFunc(rivals, func(i int) bool {
			other := all[i].qualifiers()
			return &all[i] != c && slices.Contains(other[:], q)
		})
		if !taken {
			return q + ":" + c.skill.Name
		}
	}
	return own[2] + ":" + c.skill.Name
}

// matches reports whether key is the candidate's name behind one of its qualifiers. key is a
// clean name, see [skilltext.CleanName].
func (c *candidate) matches(key string) bool {
	qualifier, ok := strings.CutSuffix(key, ":"+c.key)
	own := c.qualifiers()
	return ok && slices.ContainsFunc(own[:], func(q string) bool { return skilltext.CleanName(q) == qualifier })
}

// sortByRank sorts candidates: by scope, then in the order in which they come.
func sortByRank(all []candidate) {
	slices.SortStableFunc(all, func(a, b candidate) int { return int(a.skill.Scope) - int(b.skill.Scope) })
}

// dropSameFiles drops candidates with the same SKILL.md file as one of a higher rank. That
// happens if a link and its target are both in a root.
func dropSameFiles(st *state, all []candidate) []candidate {
	byKey := make(map[string][]int)
	out := all[:0]
	for _, c := range all {
		isSame := func(i int) bool { return st.sameFile(out[i].at, c.at) }
		if !slices.ContainsFunc(byKey[c.key], isSame) {
			byKey[c.key] = append(byKey[c.key], len(out))
			out = append(out, c)
		}
	}
	return out
}

func (st *state) sameFile(a, b place) bool {
	if a.entry != nil || b.entry != nil || a.area == b.area {
		return false
	}
	x, err := st.areas[a.area].tree.Stat(a.file)
	if err != nil {
		return false
	}
	y, err := st.areas[b.area].tree.Stat(b.file)
	return err == nil && os.SameFile(x, y)
}
