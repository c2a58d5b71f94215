package catalog

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/search"
)

// How much a skill gains that this agent has loaded lately, and by its scope.
const (
	recentBoost  = 1.05
	projectBoost = 1.02
	userBoost    = 1.01
)

// Search says how [Catalog.Search] orders skills. A field of 0 is the default.
type Search struct {
	// Bodies is how many bytes of each SKILL.md are read, front matter included; the default is
	// 64 KiB, of whose prose the first 8 KiB count. -1 searches names and descriptions only.
	Bodies int
	// Embedder lets vectors have a part in the order: the 50 best skills by words and the 50 best
	// by the cosine to the query are ordered by both. A skill that is similar is a strong hit,
	// also where no word matches. The embedder gets the name and description of every skill that
	// is not hidden, once for each text, from [Catalog.Index] or the first search. It also gets
	// the phrasings of each search. If it fails, or a search has waited for it for 10 seconds, the
	// search goes by words, and says so in [Results].
	Embedder Embedder
	// EmbedderID names the model of Embedder: [WithCache] keeps the vectors of skills under it.
	EmbedderID string
	// Similarity is the cosine to a phrasing from which on a skill is a strong hit, for at least
	// half of the phrasings: more than 0, at most 1. The default is 0.85, which is high:
	// unrelated texts have 0.7 with some models, and related ones 0.4 with others. A host should
	// measure a few requests with its model.
	Similarity float64
}

// WithSearch sets how skills are searched for.
func WithSearch(s Search) Option {
	return func(c *config) error {
		switch {
		case s.Bodies < -1:
			return fmt.Errorf("WithSearch: Bodies is %d: want -1 or more", s.Bodies)
		case (s.Embedder == nil) != (s.EmbedderID == ""):
			return fmt.Errorf("WithSearch: EmbedderID is %q: want an embedder and its id", s.EmbedderID)
		case s.Similarity < 0 || s.Similarity > 1 || math.IsNaN(s.Similarity):
			return fmt.Errorf("WithSearch: Similarity is %g: want more than 0 and at most 1", s.Similarity)
		}
		c.searchBytes = max(0, cmp.Or(s.Bodies, defaultSearchBytes))
		c.embedder, c.embedderID = s.Embedder, s.EmbedderID
		c.similarity = cmp.Or(s.Similarity, defaultSimilarity)
		return nil
	}
}

// Query is what skills are searched for.
type Query struct {
	// Phrasings say in several ways what is wanted; their scores are added up. At
	// most 8 count, of each the first 500 characters.
	Phrasings []string
	// Messages says that the phrasings are messages of users, not wordings of one need:
	// words of asking count less, and one word is enough where few skills hold it.
	Messages bool
	// Recent are names of skills that were used lately: they gain a little.
	Recent []string
	// Limit is how many strong hits are returned, from the one at Offset on; 0 is 8.
	Limit, Offset int
	// Allow reports whether a skill may be found; nil allows all. What it does not
	// allow is not counted either.
	Allow func(core.Skill) bool
}

// Results are the skills that a query has found.
type Results struct {
	// Hits are the strong hits that were asked for, the best first. Where there are no
	// more strong ones after them, up to five of the others follow.
	Hits []Hit
	// Strong counts all strong hits, and Total the skills that were searched.
	Strong, Total int
	// ByWords is why the embedder of [WithSearch] has no part in the order; nil where
	// it has, or where there is none.
	ByWords error
}

// Hit is a skill that was found.
type Hit struct {
	Skill core.Skill
	Score float64
	// Strong hits are likely meant; the others have words in common with the query.
	Strong bool
	// Explicit hits were named in the query.
	Explicit bool
}

// Search finds skills that are not hidden, shadowed ones too, by what they say of themselves: name, description, tags,
// and the headings and first prose of their bodies. The same files and query give the
// same answer. It builds the index where [Catalog.Index] has not.
//
// The error is that of ctx, or fs.ErrClosed where the catalog was closed before it was
// indexed.
func (c *Catalog) Search(ctx context.Context, q Query) (Results, error) {
	x, err := c.currentIndex(ctx)
	if err != nil {
		return Results{}, err
	}
	seen := c.forAudience(x.state.snapshot)
	sight := seen.documentsOf(x)
	allowed := func(i int) bool {
		at := sight.skillAt[i]
		return at >= 0 && (q.Allow == nil || q.Allow(seen.skills[at]))
	}
	skill := func(i int) *core.Skill { return &seen.skills[sight.skillAt[i]] }
	asked := search.Query{Phrasings: q.Phrasings, Messages: q.Messages, Boost: q.boost(skill), Allow: allowed, Naming: sight.naming}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultHits
	}
	texts := q.embeddable()
	byVectors := c.vectors != nil && len(texts) > 0 && len(x.skills) > 0
	if !byVectors {
		asked.Weak = weakHits
	}
	found := x.index.Search(asked)
	out := Results{Total: sight.total}
	if byVectors {
		near, err := c.similarities(ctx, x, texts)
		if ctx.Err() != nil {
			return Results{}, ctx.Err()
		}
		if out.ByWords = err; err == nil {
			found = mergeRankings(found, near, len(texts), allowed, func(i int) string { return skill(i).Name })
		}
	}
	if q.Allow != nil {
		out.Total = 0
		for i := range x.skills {
			if allowed(i) {
				out.Total++
			}
		}
	}
	var weak []Hit
	for _, h := range found {
		hit := Hit{Skill: *skill(h.Document), Score: h.Score, Strong: h.Strong, Explicit: h.Explicit}
		switch {
		case !h.Strong:
			if len(weak) < weakHits {
				weak = append(weak, hit)
			}
			continue
		case out.Strong >= q.Offset && len(out.Hits) < limit:
			out.Hits = append(out.Hits, hit)
		}
		out.Strong++
	}
	if q.Offset+len(out.Hits) >= out.Strong && (len(out.Hits) > 0 || q.Offset == 0) {
		out.Hits = append(out.Hits, weak...)
	}
	return out, nil
}

// boost returns what the score of a document is multiplied by.
func (q *Query) boost(skill func(document int) *core.Skill) func(document int) float64 {
	return func(i int) float64 {
		s, by := skill(i), 1.0
		if slices.Contains(q.Recent, s.Name) {
			by = recentBoost
		}
		switch s.Scope {
		case core.ScopeProject:
			by *= projectBoost
		case core.ScopeUser:
			by *= userBoost
		}
		return by
	}
}

// documentMap is what a snapshot sees of the documents of an index.
type documentMap struct {
	skillAt []int // by document, its place in the snapshot; -1: not there
	naming  *search.Naming
	total   int
}

// documentsOf is made once. The documents of all indexes of the state that a snapshot comes
// from are the same.
func (s *Snapshot) documentsOf(x *searchIndex) *documentMap {
	s.indexOnce.Do(func() {
		v := &documentMap{skillAt: make([]int, len(x.skills))}
		names, qualified := make([]string, len(x.skills)), make([]string, len(x.skills))
		for i := range x.skills {
			v.skillAt[i] = -1
			if at, ok := s.byID[x.skills[i].ID]; ok {
				v.skillAt[i], names[i], qualified[i] = at, s.skills[at].Name, s.skills[at].Qualified
				v.total++
			}
		}
		v.naming = search.NewNaming(names, qualified)
		s.documents = v
	})
	return s.documents
}
