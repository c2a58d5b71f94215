package processors

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// Format says how the overview lists the skills.
type Format uint8

const (
	// XML lists them as <available_skills>. The default.
	XML Format = iota
	// Lines lists them one a line, which costs fewer tokens.
	Lines
)

// OverviewText says how to write an overview. The zero value writes XML within
// 4000 tokens.
type OverviewText struct {
	Format Format
	// Location adds the place of each skill, for hosts whose agent opens files
	// itself.
	Location bool
	// Tokens bounds the text by its estimated tokens, one for every four ASCII
	// characters and one for every other character; 0 means 4000.
	Tokens int
	// Guidance follows the list; "" adds none.
	Guidance string
	// Search is the tool that finds skills which are not listed; "" is none.
	Search string
	// Pinned are the names of skills whose descriptions come first and whole.
	Pinned []string
	// Ranked lets a runtime set Likely to the skills that the first message of the user is
	// likely to mean, if not all can be described. Conversations then begin differently, and
	// share no overview that a prompt cache could serve.
	Ranked bool
	// Likely are the names of skills whose descriptions come next after those of Pinned, in
	// this order.
	Likely []string
}

// Entry is the line of one skill, with its whole description, in the format of the
// list.
func (o OverviewText) Entry(skill core.Skill) string {
	return o.entry(&o.listed([]core.Skill{skill})[0], whole)
}

// Render lists the skills, which must be visible and sorted by name. If the text would exceed
// its bound, all descriptions are shortened alike, at the end of a word and to no less than 60
// characters. If that is not enough, the skills of Pinned and Likely are described. As many
// others as fit are listed by name, those of a higher scope first. Room that is left when all
// have a name goes to further descriptions. Names that do not fit are counted. The model finds
// them by the tool of Search or loads them by their exact name. The text says how many skills
// that is; [OverviewText.Fit] counts them. Without skills the text is empty.
func (o OverviewText) Render(skills []core.Skill) string {
	if len(skills) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<available_skills>\n")
	o.list(&b, skills)
	b.WriteString("</available_skills>")
	if o.Guidance != "" {
		b.WriteByte('\n')
		b.WriteString(o.Guidance)
	}
	return b.String()
}

// Fit counts the skills of an overview by how much of them it shows.
type Fit struct {
	Whole     int // with their description
	Shortened int // with a shortened description
	Bare      int // by name only
	Missing   int // counted, but not named
}

// IsWhole reports whether the overview shows every skill with its whole description.
func (f Fit) IsWhole() bool { return f.Shortened+f.Bare+f.Missing == 0 }

// String says in one line what is left out.
func (f Fit) String() string {
	return fmt.Sprintf("of %d skills, %d have a shortened description, %d are listed by name only and %d are not listed",
		f.Whole+f.Shortened+f.Bare+f.Missing, f.Shortened, f.Bare, f.Missing)
}

// Fit counts what [OverviewText.Render] shows of the skills.
func (o OverviewText) Fit(skills []core.Skill) Fit {
	all := o.listed(skills)
	p := o.plan(all)
	var f Fit
	for i := range all {
		switch length := p.lengthOf(&all[i]); {
		case !p.full[i] && p.named[i]:
			f.Bare++
		case !p.full[i]:
			f.Missing++
		case length < all[i].runes && all[i].shortened(length) != all[i].description:
			f.Shortened++
		default:
			f.Whole++
		}
	}
	return f
}

// list writes the skills that the bound has room for.
func (o OverviewText) list(b *strings.Builder, skills []core.Skill) {
	all := o.listed(skills)
	p := o.plan(all)
	var bare []string
	named := 0
	for i := range all {
		switch {
		case p.full[i]:
			named++
			b.WriteString(o.entry(&all[i], p.lengthOf(&all[i])))
		case p.named[i]:
			named++
			bare = append(bare, all[i].bare())
		}
	}
	if len(bare) > 0 {
		more := ""
		if len(bare) < named {
			more = " more"
		}
		fmt.Fprintf(b, "%d%s by name only:%s\n", len(bare), more, strings.Join(bare, ","))
	}
	o.missing(b, len(all)-named, named > 0)
}

// missing says how many skills are not named, and how they are found all the same.
func (o OverviewText) missing(b *strings.Builder, rest int, others bool) {
	if rest == 0 {
		return
	}
	more := ""
	if others {
		more = " more"
	}
	what := "skills: they load by their exact name."
	switch {
	case o.Search != "" && rest == 1:
		what = "skill: find it with " + o.Search + "."
	case o.Search != "":
		what = "skills: find them with " + o.Search + "."
	case rest == 1:
		what = "skill: it loads by its exact name."
	}
	fmt.Fprintf(b, "%d%s %s\n", rest, more, what)
}

// listedSkill is a skill as the list shows it, not yet escaped.
type listedSkill struct {
	name, description, location string
	runes                       int // of the description
	pinned                      bool
	scope                       core.Scope
	likely                      int // its place in Likely, or behind the last
}

func (o OverviewText) listed(skills []core.Skill) []listedSkill {
	all := make([]listedSkill, len(skills))
	for i := range skills {
		all[i] = listedSkill{name: prompttext.Fold(skills[i].Name), description: prompttext.FoldDescription(skills[i].Description)}
		all[i].runes = utf8.RuneCountInString(all[i].description)
		all[i].pinned, all[i].scope = slices.Contains(o.Pinned, skills[i].Name), skills[i].Scope
		if all[i].likely = slices.Index(o.Likely, skills[i].Name); all[i].likely < 0 {
			all[i].likely = len(o.Likely)
		}
		if o.Location {
			all[i].location = prompttext.Fold(skills[i].Place)
		}
	}
	return all
}

// plan is how a list uses its room: those that are full are described, and of their
// descriptions length characters are shown. Others that are named are listed by name.
type plan struct {
	length      int
	full, named []bool
}

// lengthOf is how much of a description is shown.
func (p plan) lengthOf(s *listedSkill) int {
	if s.pinned {
		return whole
	}
	return p.length
}

const whole = math.MaxInt

// plan finds the greatest length of descriptions with which all skills have room, or
// leaves it to planNames.
func (o OverviewText) plan(all []listedSkill) plan {
	limit := o.room()
	p := plan{length: whole, full: make([]bool, len(all)), named: make([]bool, len(all))}
	switch {
	case o.fits(all, whole, limit):
	case o.fits(all, minDescription, limit):
		longest := 0
		for i := range all {
			longest = max(longest, all[i].runes)
		}
		// The first length that does not fit, and so the one before it.
		p.length = minDescription + sort.Search(longest-minDescription, func(n int) bool { return !o.fits(all, minDescription+n+1, limit) })
	default:
		return o.planNames(all, limit)
	}
	for i := range p.full {
		p.full[i] = true
	}
	return p
}

// room is how many tokens the list may take.
func (o OverviewText) room() int {
	limit := o.Tokens
	if limit <= 0 {
		limit = defaultOverviewTokens
	}
	return limit - prompttext.Estimate(o.Guidance) - frameTokens
}

func (o OverviewText) fits(all []listedSkill, length, limit int) bool {
	for i := range all {
		if limit -= prompttext.Estimate(o.entry(&all[i], plan{length: length}.lengthOf(&all[i]))); limit < 0 {
			return false
		}
	}
	return true
}

// planNames describes pinned and likely skills, names as many others as it can, and
// describes more of them if all have a name. Within each step the order is that of
// described.
func (o OverviewText) planNames(all []listedSkill, limit int) plan {
	p := plan{length: minDescription, full: make([]bool, len(all)), named: make([]bool, len(all))}
	order := described(all)
	take := func(cost int) bool {
		if cost > limit {
			return false
		}
		limit -= cost
		return true
	}
	name := func(i int) int { return prompttext.Estimate(all[i].bare()) + 1 } // and a comma
	named := 0
	for _, i := range order {
		chosen := all[i].pinned || all[i].likely < len(o.Likely)
		if p.full[i] = chosen && take(prompttext.Estimate(o.entry(&all[i], p.lengthOf(&all[i])))); p.full[i] {
			named++
		}
	}
	for _, i := range order {
		if p.named[i] = !p.full[i] && take(name(i)); p.named[i] {
			named++
		}
	}
	for _, i := range order {
		if named == len(all) && p.named[i] && take(prompttext.Estimate(o.entry(&all[i], p.lengthOf(&all[i])))-name(i)) {
			p.full[i] = true
		}
	}
	return p
}

// described returns the places of skills in the order in which they are described while
// there is room.
func described(all []listedSkill) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &all[i], &all[j]
		if a.pinned != b.pinned {
			if a.pinned {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.likely, b.likely), cmp.Compare(a.scope, b.scope))
	})
	return order
}

// entry describes a skill with length characters of its description, or a few more to
// the end of a word.
func (o OverviewText) entry(s *listedSkill, length int) string {
	name, description := prompttext.Escape(s.name), prompttext.Escape(s.shortened(length))
	if o.Format == Lines {
		if o.Location {
			return "- " + name + " (" + prompttext.Escape(s.location) + "): " + description + "\n"
		}
		return "- " + name + ": " + description + "\n"
	}
	text := "<skill><name>" + name + "</name><description>" + description + "</description>"
	if o.Location {
		text += "<location>" + prompttext.Escape(s.location) + "</location>"
	}
	return text + "</skill>\n"
}

func (s *listedSkill) bare() string { return " " + prompttext.Escape(s.name) }

// shortened cuts the description at the first end of a word after length characters. It cuts
// in the middle of a word that does not end soon, as in scripts without spaces.
func (s *listedSkill) shortened(length int) string {
	if s.runes <= length {
		return s.description
	}
	n, cut := 0, 0
	for at, r := range s.description {
		if n == length {
			cut = at
		}
		if n >= length && r == ' ' {
			return s.description[:at] + "…"
		}
		if n++; n > length+wordEnd {
			return s.description[:cut] + "…"
		}
	}
	return s.description // the last word ends it
}
