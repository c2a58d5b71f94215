package eval

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/engine/turn"
)

// runOffline searches the catalog for each query.
func runOffline(ctx context.Context, suite *Suite, o *Options) (*Report, error) {
	out := &Report{Mode: Offline, Totals: &Totals{}, Collisions: map[string]map[string]int{}}
	var all recallCount
	bySkill := map[string]*recallCount{}
	for i := range suite.Queries {
		q := &suite.Queries[i]
		found, err := find(ctx, o.Catalog, q)
		if err != nil {
			return nil, fmt.Errorf("eval: %s%w", prefix(q.From), err)
		}
		out.Queries = append(out.Queries, QueryResult{Skill: q.Skill, Query: q.Query, ShouldTrigger: q.ShouldTrigger, Hidden: o.hidden[q.Skill], Found: found})
		if bySkill[q.Skill] == nil {
			bySkill[q.Skill] = new(recallCount)
		}
		bySkill[q.Skill].add(q, found)
		all.add(q, found)
		for _, above := range found.Above {
			if out.Collisions[q.Skill] == nil {
				out.Collisions[q.Skill] = map[string]int{}
			}
			out.Collisions[q.Skill][above.Skill]++
		}
		o.progress(i+1, len(suite.Queries))
	}
	for _, skill := range suite.Skills() {
		if count := bySkill[skill]; count != nil {
			recall := count.recall()
			out.Skills = append(out.Skills, SkillResult{Skill: skill, Hidden: o.hidden[skill], Recall: &recall})
		}
	}
	out.Totals.Skills, out.Totals.Recall = len(out.Skills), all.recall()
	return out, nil
}

// find asks one query as "satchel search" does, and as an agent with suggestions does.
func find(ctx context.Context, c *catalog.Catalog, q *Query) (*Found, error) {
	results, err := c.Search(ctx, catalog.Query{Phrasings: []string{q.Query}})
	if err != nil {
		return nil, err
	}
	var before []string
	found := &Found{}
	for i, hit := range results.Hits {
		if hit.Skill.Name == q.Skill {
			found.Rank = i + 1
			break
		}
		before = append(before, hit.Skill.Name)
	}
	suggesting := turn.Suggesting(0)
	suggested, err := suggesting.Suggested(ctx, c, q.Query)
	if err != nil {
		return nil, err
	}
	found.Suggested = slices.Contains(suggested, q.Skill)
	if !q.ShouldTrigger {
		before = nil
	}
	if found.Suggested && !q.ShouldTrigger {
		if found.Words, err = suggestedBy(ctx, c, q); err != nil {
			return nil, err
		}
	}
	found.Above, err = explain(ctx, c, q, before)
	return found, err
}

// suggestedBy returns the words by which a query suggests its skill, the weightiest first.
func suggestedBy(ctx context.Context, c *catalog.Catalog, q *Query) ([]string, error) {
	weights := map[string]float64{}
	for _, phrasing := range turn.Phrasings(q.Query) {
		words, err := c.Words(ctx, phrasing, q.Skill)
		if err != nil {
			return nil, err
		}
		maps.Copy(weights, words[0])
	}
	return stronger(weights, nil), nil
}

// explain returns the skills before that of a query, with the words by which they stand there.
func explain(ctx context.Context, c *catalog.Catalog, q *Query, before []string) ([]Above, error) {
	above := make([]Above, len(before))
	if len(before) == 0 {
		return above, nil
	}
	words, err := c.Words(ctx, q.Query, append(before, q.Skill)...)
	if err != nil {
		return nil, err
	}
	own := words[len(before)]
	for i, skill := range before {
		above[i] = Above{Skill: skill, Words: stronger(words[i], own)}
	}
	return above, nil
}

// stronger returns the words that weigh more in words than in own, the largest difference first. If
// there are none, it returns all of words.
func stronger(words, own map[string]float64) []string {
	lead := func(word string) float64 { return words[word] - own[word] }
	all := slices.AppendSeq([]string{}, maps.Keys(words))
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(lead(b), lead(a)), cmp.Compare(words[b], words[a]), cmp.Compare(a, b))
	})
	if end := slices.IndexFunc(all, func(word string) bool { return lead(word) <= 0 }); end > 0 {
		all = all[:end]
	}
	return slices.Clip(all[:min(len(all), maxWords)])
}

// recallCount counts the queries of a skill, or of all.
type recallCount struct {
	should, first, firstFive int
	shouldNot, suggested     int
}

func (r *recallCount) add(q *Query, found *Found) {
	if !q.ShouldTrigger {
		r.shouldNot++
		if found.Suggested {
			r.suggested++
		}
		return
	}
	r.should++
	if found.Rank == 1 {
		r.first++
	}
	if found.Rank >= 1 && found.Rank <= 5 {
		r.firstFive++
	}
}

func (r *recallCount) recall() Recall {
	return Recall{
		Queries: r.should + r.shouldNot, Recall1: share(r.first, r.should), Recall5: share(r.firstFive, r.should),
		FalseSuggestions: share(r.suggested, r.shouldNot),
	}
}

// share returns n of all, nil if there are none.
func share(n, all int) *float64 {
	if all == 0 {
		return nil
	}
	rate := float64(n) / float64(all)
	return &rate
}
