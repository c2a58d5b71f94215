package processors

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core"
)

// DefaultOverviewTokens bounds the overview unless the host says otherwise.
const DefaultOverviewTokens = 4000

// frameTokens is kept free for the lines around the list.
const frameTokens = 60

// Format is how the overview lists the skills.
type Format uint8

const (
	// XML lists them as <available_skills>. The default.
	XML Format = iota
	// Lines lists them one a line, which costs fewer tokens.
	Lines
)

// OverviewText describes how to write an overview.
type OverviewText struct {
	Format Format
	// Location adds each skill's place, for hosts whose agent opens files.
	Location bool
	// Tokens bounds the text by estimate; 0 means DefaultOverviewTokens.
	Tokens int
	// Guidance follows the list; "" adds none.
	Guidance string
}

// Render lists the skills, which must be sorted and visible. While the text
// would exceed its bound, skills lose their descriptions, the last and the
// longest first, and are then only counted; the text says how many are
// shortened. No skills give no text.
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

// list writes the skills within the bound.
func (o OverviewText) list(b *strings.Builder, skills []core.Skill) {
	limit := o.Tokens
	if limit <= 0 {
		limit = DefaultOverviewTokens
	}
	full, named := o.fit(skills, limit-EstimateTokens(o.Guidance)-frameTokens)
	for i := range skills[:named] {
		if full[i] {
			b.WriteString(o.entry(&skills[i]))
		}
	}
	o.names(b, skills[:named], full)
	if rest := len(skills) - named; rest > 0 {
		more := ""
		if named > 0 {
			more = " more"
		}
		fmt.Fprintf(b, "%d%s not listed; they load by their exact name.\n", rest, more)
	}
}

// names lists the skills that lost their descriptions.
func (o OverviewText) names(b *strings.Builder, skills []core.Skill, full []bool) {
	var short []string
	for i := range skills {
		if !full[i] {
			short = append(short, nameEntry(&skills[i]))
		}
	}
	if len(short) == 0 {
		return
	}
	more := ""
	if len(short) < len(skills) {
		more = " more"
	}
	fmt.Fprintf(b, "%d%s by name only:%s\n", len(short), more, strings.Join(short, ","))
}

// fit returns how many skills have room for at least their name within limit
// tokens, and which of those for their description too.
func (o OverviewText) fit(skills []core.Skill, limit int) (full []bool, named int) {
	// First every name, as far as they go; then from the front a description
	// in place of each name that it fits in.
	used := 0
	for named < len(skills) {
		cost := EstimateTokens(nameEntry(&skills[named])) + 1 // and a comma
		if used+cost > limit {
			break
		}
		used += cost
		named++
	}
	full = make([]bool, named)
	for i := range full {
		more := EstimateTokens(o.entry(&skills[i])) - EstimateTokens(nameEntry(&skills[i]))
		if used+more <= limit {
			used += more
			full[i] = true
		}
	}
	return full, named
}

func (o OverviewText) entry(s *core.Skill) string {
	name, description := xmlText(s.Name), xmlText(s.Description)
	if o.Format == Lines {
		if o.Location {
			return "- " + name + " (" + xmlText(s.Location) + "): " + description + "\n"
		}
		return "- " + name + ": " + description + "\n"
	}
	text := "<skill><name>" + name + "</name><description>" + description + "</description>"
	if o.Location {
		text += "<location>" + xmlText(s.Location) + "</location>"
	}
	return text + "</skill>\n"
}

func nameEntry(s *core.Skill) string { return " " + xmlText(s.Name) }

// EstimateTokens estimates how many tokens text costs without a tokenizer: a
// token for four ASCII characters or for one other character. It errs on the
// high side for prose.
func EstimateTokens(text string) int {
	ascii, other := 0, 0
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < utf8.RuneSelf {
			ascii++
		} else if utf8.RuneStart(c) {
			other++
		}
	}
	return (ascii+3)/4 + other
}
