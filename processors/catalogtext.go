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
	// XML is the default. It lists them as <available_skills>, each on a line such as
	// <name>pdf</name>Fill in PDF forms.
	XML Format = iota
	// Lines lists each skill on one line, which costs fewer tokens.
	Lines
)

// OverviewText says how to write an overview. The zero value writes XML with at most 4000
// tokens.
type OverviewText struct {
	Format Format
	// Location adds the Place of each skill, for agents that open files themselves. Lists in XML
	// then have Elements.
	Location bool
	// Elements makes each line of a list in XML an element <skill>, with the elements <name> and
	// <description>. That costs eight more tokens a skill.
	Elements bool
	// Tokens limits the text in estimated tokens: one for every four ASCII characters, and one
	// for every other character. 0 means 4000.
	Tokens int
	// Guidance follows the list; "" adds none.
	Guidance string
	// Search is the name of the tool that finds skills which are not listed; "" means none. Lists
	// in XML then have Elements, as the answers of the tool do.
	Search string
	// Pinned are the names of skills whose descriptions come first and are not shortened.
	Pinned []string
	// Ranked makes a runtime set Likely to the skills that match the user's first message best,
	// if not all can be described. Conversations then begin with different overviews, so they
	// share no entry of the prompt cache.
	Ranked bool
	// Likely are the names of skills whose descriptions come after those of Pinned, in this
	// order.
	Likely []string
}

// Entry returns the line of one skill, with its whole description, in the format of the list.
func (o OverviewText) Entry(skill core.Skill) string {
	return o.entryLine(&o.entriesOf([]core.Skill{skill})[0], wholeDescription)
}

// Render writes the overview of skills, which must be visible and sorted by name. Without
// skills it returns "". If the text would have too many tokens, Render works in steps:
//
//   - It shortens all descriptions to the same length, at the end of a word and to no less than
//     60 characters.
//   - If that is not enough, it describes only the skills of Pinned and Likely. It lists as many
//     others as fit by name, those of a higher scope first. If every skill is named, it uses the
//     remaining room for further descriptions.
//   - It counts the skills that are not named, and says how the model reaches them: by the tool of
//     Search, or by a load with their exact name. [OverviewText.Fit] returns these counts.
func (o OverviewText) Render(skills []core.Skill) string {
	if len(skills) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<available_skills>\n")
	o.writeList(&b, skills)
	b.WriteString("</available_skills>")
	if o.Guidance != "" {
		b.WriteByte('\n')
		b.WriteString(o.Guidance)
	}
	return b.String()
}

// Fit counts the skills of an overview by how they are shown.
type Fit struct {
	Whole     int // with their whole description
	Shortened int // with a shortened description
	Bare      int // by name only
	Missing   int // counted, but not named
}

// IsWhole reports whether the overview shows every skill with its whole description.
func (f Fit) IsWhole() bool { return f.Shortened+f.Bare+f.Missing == 0 }

// String returns one line about the skills that are not shown whole.
func (f Fit) String() string {
	return fmt.Sprintf("of %d skills, %d have a shortened description, %d are listed by name only and %d are not listed",
		f.Whole+f.Shortened+f.Bare+f.Missing, f.Shortened, f.Bare, f.Missing)
}

// Fit returns how [OverviewText.Render] shows the skills.
func (o OverviewText) Fit(skills []core.Skill) Fit {
	all := o.entriesOf(skills)
	p := o.plan(all)
	var f Fit
	for i := range all {
		switch length := p.lengthOf(&all[i]); {
		case !p.isDescribed[i] && p.isNamed[i]:
			f.Bare++
		case !p.isDescribed[i]:
			f.Missing++
		case length < all[i].runes && all[i].shorten(length) != all[i].description:
			f.Shortened++
		default:
			f.Whole++
		}
	}
	return f
}

// Shown returns the names of the skills that [OverviewText.Render] describes, and of those that it only
// names. It does not show the others.
func (o OverviewText) Shown(skills []core.Skill) (described, named []string) {
	p := o.plan(o.entriesOf(skills))
	for i := range skills {
		switch {
		case p.isDescribed[i]:
			described = append(described, skills[i].Name)
		case p.isNamed[i]:
			named = append(named, skills[i].Name)
		}
	}
	return described, named
}

// writeList writes the list, without the lines around it.
func (o OverviewText) writeList(b *strings.Builder, skills []core.Skill) {
	all := o.entriesOf(skills)
	p := o.plan(all)
	var bare []string
	named := 0
	for i := range all {
		switch {
		case p.isDescribed[i]:
			named++
			b.WriteString(o.entryLine(&all[i], p.lengthOf(&all[i])))
		case p.isNamed[i]:
			named++
			bare = append(bare, all[i].nameOnly())
		}
	}
	if len(bare) > 0 {
		more := ""
		if len(bare) < named {
			more = " more"
		}
		fmt.Fprintf(b, "%d%s by name only:%s\n", len(bare), more, strings.Join(bare, ","))
	}
	o.writeMissing(b, len(all)-named, named > 0)
}

// writeMissing writes how many skills are not named, and how the model reaches them.
func (o OverviewText) writeMissing(b *strings.Builder, rest int, hasOthers bool) {
	if rest == 0 {
		return
	}
	more := ""
	if hasOthers {
		more = " more"
	}
	hint := "skills: they load by their exact name."
	switch {
	case o.Search != "" && rest == 1:
		hint = "skill: find it with " + o.Search + "."
	case o.Search != "":
		hint = "skills: find them with " + o.Search + "."
	case rest == 1:
		hint = "skill: it loads by its exact name."
	}
	fmt.Fprintf(b, "%d%s %s\n", rest, more, hint)
}

// entry is a skill of the list, not yet escaped.
type entry struct {
	name, description, location string
	runes                       int // the length of the description
	isPinned                    bool
	scope                       core.Scope
	likely                      int // its index in Likely, or len(Likely)
}

// entriesOf returns the entries of skills.
func (o OverviewText) entriesOf(skills []core.Skill) []entry {
	all := make([]entry, len(skills))
	for i := range skills {
		all[i] = entry{name: prompttext.Fold(skills[i].Name), description: prompttext.FoldDescription(skills[i].Description)}
		all[i].runes = utf8.RuneCountInString(all[i].description)
		all[i].isPinned, all[i].scope = slices.Contains(o.Pinned, skills[i].Name), skills[i].Scope
		if all[i].likely = slices.Index(o.Likely, skills[i].Name); all[i].likely < 0 {
			all[i].likely = len(o.Likely)
		}
		if o.Location {
			all[i].location = prompttext.Fold(skills[i].Place)
		}
	}
	return all
}

// plan says how each skill of a list is shown: with length characters of its description, or by
// name only, or not at all.
type plan struct {
	length               int
	isDescribed, isNamed []bool
}

// lengthOf returns how many characters of a description are shown.
func (p plan) lengthOf(s *entry) int {
	if s.isPinned {
		return wholeDescription
	}
	return p.length
}

// wholeDescription is the length of a description that is not shortened.
const wholeDescription = math.MaxInt

// plan returns the plan with the longest descriptions for which all skills fit. If none fits,
// it returns that of planNames.
func (o OverviewText) plan(all []entry) plan {
	limit := o.listTokens()
	p := plan{length: wholeDescription, isDescribed: make([]bool, len(all)), isNamed: make([]bool, len(all))}
	switch {
	case o.fits(all, wholeDescription, limit):
	case o.fits(all, minDescription, limit):
		longest := 0
		for i := range all {
			longest = max(longest, all[i].runes)
		}
		// The result of Search is the largest growth that still fits.
		p.length = minDescription + sort.Search(longest-minDescription, func(n int) bool { return !o.fits(all, minDescription+n+1, limit) })
	default:
		return o.planNames(all, limit)
	}
	for i := range p.isDescribed {
		p.isDescribed[i] = true
	}
	return p
}

// listTokens returns how many tokens the list may have.
func (o OverviewText) listTokens() int {
	limit := o.Tokens
	if limit <= 0 {
		limit = defaultOverviewTokens
	}
	return limit - prompttext.Estimate(o.Guidance) - frameTokens
}

// fits reports whether all entries with descriptions of this length need at most limit tokens.
func (o OverviewText) fits(all []entry, length, limit int) bool {
	for i := range all {
		if limit -= prompttext.Estimate(o.entryLine(&all[i], plan{length: length}.lengthOf(&all[i]))); limit < 0 {
			return false
		}
	}
	return true
}

// planNames plans a list in which not all skills can be described. It describes pinned and
// likely skills, and names as many others as fit. If all are named, it describes more of them.
// Each step follows [descriptionOrder].
func (o OverviewText) planNames(all []entry, limit int) plan {
	p := plan{length: minDescription, isDescribed: make([]bool, len(all)), isNamed: make([]bool, len(all))}
	order := descriptionOrder(all)
	reserve := func(cost int) bool {
		if cost > limit {
			return false
		}
		limit -= cost
		return true
	}
	entryCost := func(i int) int { return prompttext.Estimate(o.entryLine(&all[i], p.lengthOf(&all[i]))) }
	nameCost := func(i int) int { return prompttext.Estimate(all[i].nameOnly()) + 1 } // with a comma
	shown := 0
	for _, i := range order {
		isChosen := all[i].isPinned || all[i].likely < len(o.Likely)
		if isChosen && reserve(entryCost(i)) {
			p.isDescribed[i] = true
			shown++
		}
	}
	for _, i := range order {
		if !p.isDescribed[i] && reserve(nameCost(i)) {
			p.isNamed[i] = true
			shown++
		}
	}
	if shown < len(all) {
		return p
	}
	for _, i := range order {
		if p.isNamed[i] && reserve(entryCost(i)-nameCost(i)) {
			p.isDescribed[i] = true
		}
	}
	return p
}

// descriptionOrder returns the indexes of the skills in the order in which they get
// descriptions: pinned ones, likely ones, then by scope.
func descriptionOrder(all []entry) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &all[i], &all[j]
		if a.isPinned != b.isPinned {
			if a.isPinned {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.likely, b.likely), cmp.Compare(a.scope, b.scope))
	})
	return order
}

// entryLine returns the line of a skill with length characters of its description, or a few
// more to the end of a word.
func (o OverviewText) entryLine(s *entry, length int) string {
	name, description := prompttext.Escape(s.name), prompttext.Escape(s.shorten(length))
	if o.Format == Lines {
		if o.Location {
			return "- " + name + " (" + prompttext.Escape(s.location) + "): " + description + "\n"
		}
		return "- " + name + ": " + description + "\n"
	}
	if !o.Elements && !o.Location && o.Search == "" {
		return "<name>" + name + "</name>" + description + "\n"
	}
	text := "<skill><name>" + name + "</name><description>" + description + "</description>"
	if o.Location {
		text += "<location>" + prompttext.Escape(s.location) + "</location>"
	}
	return text + "</skill>\n"
}

// nameOnly returns the text for a skill that is listed by name.
func (s *entry) nameOnly() string { return " " + prompttext.Escape(s.name) }

// shorten returns the description up to the first end of a word after length characters. If the
// word does not end soon, as in scripts without spaces, it cuts after length characters.
func (s *entry) shorten(length int) string {
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
	return s.description // the last word ends the description
}
