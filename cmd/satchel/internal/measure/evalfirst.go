package measure

import (
	"context"
	"regexp"
	"strings"
	"unicode"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/eval"
)

// first is the suite that eval init writes.
type first struct {
	queries []firstQuery
	evals   firstEvals
}

type firstQuery struct {
	Query         string `json:"query"`
	ShouldTrigger bool   `json:"should_trigger"`
}

type firstEvals struct {
	Skill string      `json:"skill_name"`
	Evals []firstEval `json:"evals"`
}

type firstEval struct {
	ID         int      `json:"id"`
	Prompt     string   `json:"prompt"`
	Expected   string   `json:"expected_output"`
	Files      []string `json:"files"`
	Assertions []string `json:"assertions"`
}

// firstSuite makes a suite from the description of a skill. Its false queries are requests that few
// skills are about, and requests for the skills of the catalog that are most like it.
func firstSuite(ctx context.Context, skills *catalog.Catalog, skill *core.Skill) (*first, error) {
	purpose := wholeWords(firstSentence(skill.Description))
	out := &first{evals: firstEvals{Skill: plainName(skill)}}
	for _, query := range trueQueries(skill, purpose) {
		out.queries = append(out.queries, firstQuery{query, true})
	}
	candidates, err := nearMisses(ctx, skills, skill)
	if err != nil {
		return nil, err
	}
	candidates = append(candidates, otherRequests...)
	suite := new(eval.Suite)
	for _, query := range candidates {
		suite.Queries = append(suite.Queries, eval.Query{Skill: skill.Name, Query: query})
	}
	report, err := eval.Run(ctx, suite, eval.Options{Catalog: skills})
	if err != nil {
		return nil, err
	}
	for _, q := range report.Queries {
		if !q.Suggested && len(out.queries) < 2*evalFirstSuite {
			out.queries = append(out.queries, firstQuery{q.Query, false})
		}
	}
	out.evals.Evals = []firstEval{{
		ID: 1, Prompt: out.queries[0].Query,
		Expected:   "Describe a good result: " + purpose,
		Files:      []string{},
		Assertions: []string{`regex:\S`, "The answer does what the user asked for: " + purpose},
	}}
	return out, nil
}

// otherRequests are requests about things of everyday life, which few skills are about.
var otherRequests = []string{
	"What is the capital of Portugal?",
	"Suggest a name for my neighbour's cat.",
	"How long do I boil an egg?",
	"Why is the sky blue?",
	"Who won the first football world cup?",
	"Explain the rules of chess to a child.",
}

// whenClause finds what a description says after "Use when".
var whenClause = regexp.MustCompile(`(?i)\buse\b[^.;:]{0,40}?\bwhen(?:ever)?\s+(?:the user\s+|you\s+(?:need|want)\s+to\s+|working\s+(?:with|on)\s+)?([^.;]+)`)

// trueQueries returns requests that a description is about.
func trueQueries(skill *core.Skill, purpose string) []string {
	purpose = strings.TrimRight(purpose, sentenceEnds)
	queries := []string{
		"I have a task of this kind: " + lowerFirst(purpose) + ". Where do we begin?",
		"Please help me. What I need: " + lowerFirst(purpose) + ".",
	}
	if found := whenClause.FindStringSubmatch(skill.Description); found != nil {
		when := wholeWords(strings.Join(strings.Fields(found[1]), " "))
		return append(queries, "This is my case: "+strings.TrimRight(when, ", ")+". Can you do it?")
	}
	return append(queries, "Is this something you can do for me today: "+lowerFirst(purpose)+"?")
}

// nearMisses returns requests for the skills that a search for the description of a skill finds.
func nearMisses(ctx context.Context, skills *catalog.Catalog, skill *core.Skill) (queries []string, err error) {
	found, err := skills.Search(ctx, catalog.Query{Phrasings: []string{skill.Description}})
	if err != nil {
		return nil, err
	}
	for _, hit := range found.Hits {
		if hit.Skill.ID != skill.ID && len(queries) < evalFirstSuite-1 {
			purpose := strings.TrimRight(wholeWords(firstSentence(hit.Skill.Description)), sentenceEnds)
			queries = append(queries, "Please help me. What I need: "+lowerFirst(purpose)+".")
		}
	}
	return queries, nil
}

// sentenceEnds are the characters at the end of a sentence that a query continues.
const sentenceEnds = ". 。"

// firstSentence returns the first sentence of a description, in one line.
func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for i, r := range text {
		if r == '。' || strings.ContainsRune(".!?", r) && (i+1 == len(text) || text[i+1] == ' ') {
			return text[:i+len(string(r))]
		}
	}
	return text
}

// wholeWords shortens a text at a space.
func wholeWords(text string) string {
	if len(text) <= evalPurpose {
		return text
	}
	text = text[:evalPurpose]
	if end := strings.LastIndexAny(text, " "); end > 0 {
		text = text[:end]
	}
	return strings.TrimRight(strings.ToValidUTF8(text, ""), " ,;:-—(")
}

// lowerFirst writes the first word of a text small, unless it is an abbreviation such as PDF.
func lowerFirst(text string) string {
	runes := []rune(text)
	if len(runes) > 1 && unicode.IsUpper(runes[0]) && !unicode.IsUpper(runes[1]) {
		runes[0] = unicode.ToLower(runes[0])
	}
	return string(runes)
}

// plainName returns the name that the front matter of a skill has.
func plainName(skill *core.Skill) string {
	return skill.Name[strings.LastIndexByte(skill.Name, ':')+1:]
}
