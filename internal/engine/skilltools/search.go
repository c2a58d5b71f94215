package skilltools

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/internal/text/search"
	"github.com/satchel-go/satchel/tools"
)

// SearchName is the name of [Search].
const SearchName = "skill_search"

// Search returns the operation skill_search, which finds skills that the overview cannot
// describe.
func Search() tools.Operation {
	return tools.Operation{
		Name:        SearchName,
		Description: "Find skills that are not listed. Give 2 to 4 wordings: the task, the product or file type, once in English.",
		Fields: []tools.Field{
			{Name: "queries", Kind: tools.Texts, Required: true, Aliases: []string{"query", "q"}},
			{Name: "limit", Kind: tools.Count, Description: "1 to 20, default 8"},
			{Name: "offset", Kind: tools.Count},
		},
		Kind:  tools.Reads,
		Needs: []string{"skill_load"},
		Call:  With(searchSkills),
	}
}

func searchSkills(ctx context.Context, s *Scope, args tools.Args) (string, error) {
	var r reply
	q := catalog.Query{Phrasings: phrasings(&r, args.Texts("queries")), Limit: defaultHits}
	terms := 0
	for _, phrasing := range q.Phrasings {
		terms += search.Terms(phrasing)
	}
	if n, given := args.Count("limit"); given {
		if q.Limit = min(max(n, 1), maxHits); q.Limit != n {
			r.add("limit is 1 to %d: taken as %d", maxHits, q.Limit)
		}
	}
	q.Offset, _ = args.Count("offset")
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	q.Recent = rec.LoadedLately()
	found, err := s.Catalog().Search(ctx, q)
	if err != nil {
		return "", readError(ctx, err, "the skills cannot be searched")
	}
	if found.ByWords != nil {
		s.Emit(ctx, core.Event{Kind: core.SearchByWords, Detail: found.ByWords.Error(), Err: found.ByWords})
	}
	if terms == 0 && len(found.Hits) == 0 && found.Strong == 0 {
		return fmt.Sprintf("nothing to search for in %q: name the task or the product", printable.Cut(strings.Join(q.Phrasings, ", "), 80)), nil
	}
	var names []string
	for _, h := range found.Hits {
		names = append(names, h.Skill.Name)
	}
	s.Found(names)
	return r.join(s.foundText(found, q)), nil
}

// phrasings returns the wordings to search for. It adds a warning if it leaves some out.
func phrasings(r *reply, given []string) []string {
	if len(given) > maxPhrasings {
		r.add("of %d queries the first %d count", len(given), maxPhrasings)
		given = given[:maxPhrasings]
	}
	for _, g := range given {
		if utf8.RuneCountInString(g) > maxPhrasing {
			r.add("of a query the first %d characters count", maxPhrasing)
			break
		}
	}
	return given
}

// foundText formats the answer to a search.
func (s *Scope) foundText(found catalog.Results, q catalog.Query) string {
	var strong []core.Skill
	var weak []string
	for _, h := range found.Hits {
		if h.Strong {
			strong = append(strong, h.Skill)
		} else {
			weak = append(weak, oneLine(h.Skill.Name))
		}
	}
	var b strings.Builder
	switch {
	case len(strong) > 0:
		fmt.Fprintf(&b, "%d of %d skills match:\n", found.Strong, found.Total)
		s.describe(&b, strong)
		if next := q.Offset + len(strong); next < found.Strong {
			fmt.Fprintf(&b, "more: offset %d\n", next)
		}
	case found.Strong > 0:
		return fmt.Sprintf("no more: %d match", found.Strong)
	default:
		fmt.Fprintf(&b, "no skill of %d matches. Say it in other words: the task, the product, the file type; or go on without a skill.\n", found.Total)
	}
	if len(weak) > 0 {
		fmt.Fprintf(&b, "less likely: %s\n", strings.Join(weak, ", "))
	}
	if len(strong) > 0 {
		b.WriteString("Load one with " + s.LoadTool() + "; if none fits, search again in other words.")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// describe writes skills as the overview does. When the room for descriptions is used up, it
// lists the others by name.
func (s *Scope) describe(b *strings.Builder, skills []core.Skill) {
	left := maxListTokens
	for i, skill := range skills {
		skill.Description = cutDescription(skill.Description)
		entry := s.Entry(skill)
		if left -= prompttext.Estimate(entry); left < 0 && i > 0 {
			var names []string
			for _, rest := range skills[i:] {
				names = append(names, oneLine(rest.Name))
			}
			fmt.Fprintf(b, "by name only: %s\n", strings.Join(names, ", "))
			return
		}
		b.WriteString(entry)
	}
}

// LoadTool returns the name of the tool that loads skills.
func (s *Scope) LoadTool() string {
	if s.LoadToolName != "" {
		return s.LoadToolName
	}
	return "skill_load"
}

// cutDescription cuts a long description at the end of a word.
func cutDescription(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= maxDescribed {
		return text
	}
	n := 0
	for at := range text {
		if n == maxDescribed {
			text = text[:at]
			break
		}
		n++
	}
	if space := strings.LastIndexByte(text, ' '); space > len(text)/2 {
		text = text[:space]
	}
	return text + " […]"
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
