package eval

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/catalog"
)

// runOffline searches the catalog for each query.
func runOffline(ctx context.Context, suite *Suite, o *Options) (*Report, error) {
	if len(suite.Queries) == 0 {
		return nil, fmt.Errorf("%w: it has no queries, which mode offline asks", ErrSuite)
	}
	out := &Report{Mode: Offline, Totals: &Totals{}, Collisions: map[string]map[string]int{}}
	var all recallCount
	bySkill := map[string]*recallCount{}
	for i := range suite.Queries {
		q := &suite.Queries[i]
		found, err := find(ctx, o.Catalog, q)
		if err != nil {
			return nil, fmt.Errorf("eval: %s: %w", q.From, err)
		}
		out.Queries = append(out.Queries, QueryResult{Skill: q.Skill, Query: q.Query, ShouldTrigger: q.ShouldTrigger, Found: found})
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
			out.Skills = append(out.Skills, SkillResult{Skill: skill, Recall: &recall})
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
	found := &Found{Above: []Above{}}
	for i, hit := range results.Hits {
		if hit.Skill.Name == q.Skill {
			found.Rank = i + 1
			break
		}
		if q.ShouldTrigger {
			found.Above = append(found.Above, Above{Skill: hit.Skill.Name, Words: []string{}})
		}
	}
	return found, nil
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
