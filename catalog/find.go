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

// Factors of the score of a skill.
const (
	recentBoost  = 1.05 // of a skill in Query.Recent
	projectBoost = 1.02 // in scope project
	userBoost    = 1.01 // in scope user
)

// Search says how [Catalog.Search] orders skills. A field of 0 is the default.
type Search struct {
	// Bodies is how many bytes of each SKILL.md are read, front matter included; the default is
	// 64 KiB, of whose prose the first 8 KiB count. -1 searches names and descriptions only.
	Bodies int
	// Embedding makes the search compare vectors too. The zero value does not.
	Embedding Embedding
}

// Embedding says how a search compares vectors. The 50 best skills by words and the 50 best by the
// cosine to the query get a score from both. A skill is a strong hit by its words or by its vector,
// so a request that shares no word with its skill finds it.
type Embedding struct {
	// Embedder computes the vectors; without one, a search goes by words.
	//
	// [Catalog.Index], or else the first search, sends it the name and description of every skill
	// that is not hidden, each text once. Each search sends its phrasings. If the embedder fails or
	// takes longer than 10 seconds, the search goes by words, and ByWords of [Results] says why.
	Embedder Embedder
	// ID names the model of Embedder: [WithCache] keeps the vectors of skills under it.
	ID string
	// Strong is the cosine from which on a skill is similar to a phrasing: more than 0, at most 1. A
	// skill that is similar to half of the phrasings is a strong hit. The default is 0.85, which is
	// high: unrelated texts have 0.7 with some models, and related ones 0.4 with others. The command
	// "satchel search --calibrate" finds the value for a model.
	Strong float64
}

// WithSearch sets how skills are searched for.
func WithSearch(s Search) Option {
	e := s.Embedding
	return func(c *config) error {
		switch {
		case s.Bodies < -1:
			return fmt.Errorf("WithSearch: Bodies is %d: want -1 or more", s.Bodies)
		case (e.Embedder == nil) != (e.ID == ""):
			return fmt.Errorf("WithSearch: Embedding.ID is %q: want an embedder and its id", e.ID)
		case e.Strong < 0 || e.Strong > 1 || math.IsNaN(e.Strong):
			return fmt.Errorf("WithSearch: Embedding.Strong is %g: want more than 0 and at most 1", e.Strong)
		}
		c.searchBytes = max(0, cmp.Or(s.Bodies, defaultSearchBytes))
		c.embedder, c.embedderID = e.Embedder, e.ID
		c.similarity = cmp.Or(e.Strong, defaultSimilarity)
		return nil
	}
}

// Query says which skills [Catalog.Search] looks for.
type Query struct {
	// Phrasings describe one need in several ways; their scores are added up. The first 8
	// count, and the first 500 characters of each.
	Phrasings []string
	// Messages says that the phrasings are messages of users, not phrasings of one need.
	// Then words such as "please" count less, and one word is enough if few skills have it.
	Messages bool
	// Recent are names of skills that were used lately: their scores are a little higher.
	Recent []string
	// Limit is how many strong hits are returned, from the one at Offset on; 0 is 8.
	Limit, Offset int
	// Allow reports whether a skill may be found; nil allows all. The counts of [Results]
	// leave out the others.
	Allow func(core.Skill) bool
}

// Results are the skills that a query has found.
type Results struct {
	// Hits are the strong hits from Offset on, at most Limit, the best first. If they include
	// the last strong hit, up to five weak ones follow.
	Hits []Hit
	// Strong counts all strong hits, and Total the skills that were searched.
	Strong, Total int
	// ByWords is the error because of which the search did not use the embedder of
	// [WithSearch]. It is nil if the search did use it, or has none.
	ByWords error
}

// Hit is a skill that was found.
type Hit struct {
	Skill core.Skill
	Score float64
	// Strong says that the query probably means the skill. Weak hits only have words in common
	// with it.
	Strong bool
	// Explicit says that the query contains the name of the skill.
	Explicit bool
}

// Search finds skills by their names, descriptions and tags, and by the headings and the first
// prose of their bodies. It finds shadowed skills too, but not hidden ones. The same files and
// query give the same results. Search builds the index if [Catalog.Index] has not.
//
// The error is that of ctx, or fs.ErrClosed if the catalog was closed before it was indexed.
func (c *Catalog) Search(ctx context.Context, q Query) (Results, error) {
	x, err := c.currentIndex(ctx)
	if err != nil {
		return Results{}, err
	}
	s := c.forAudience(x.state.snapshot)
	documents := s.documentsOf(x)
	isAllowed := func(i int) bool {
		at := documents.skillAt[i]
		return at >= 0 && (q.Allow == nil || q.Allow(s.skills[at]))
	}
	skill := func(i int) *core.Skill { return &s.skills[documents.skillAt[i]] }
	query := search.Query{Phrasings: q.Phrasings, Messages: q.Messages, Boost: q.boost(skill), Allow: isAllowed, Naming: documents.naming}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultHits
	}
	texts := q.embeddable()
	usesVectors := c.vectors != nil && len(texts) > 0 && len(x.skills) > 0
	if !usesVectors {
		query.Weak = weakHits
	}
	found := x.index.Search(query)
	out := Results{Total: documents.total}
	if usesVectors {
		near, err := c.similarities(ctx, x, texts)
		if ctx.Err() != nil {
			return Results{}, ctx.Err()
		}
		if out.ByWords = err; err == nil {
			found = mergeRankings(found, near, len(texts), isAllowed, func(i int) string { return skill(i).Name })
		}
	}
	if q.Allow != nil {
		out.Total = 0
		for i := range x.skills {
			if isAllowed(i) {
				out.Total++
			}
		}
	}
	out.addPage(&q, limit, found, skill)
	return out, nil
}

// Words returns, for each of the named skills, the words of a query by which [Catalog.Search] finds
// it, with what each adds to its score. The words are in lower case. A name that the search does
// not know has none, and vectors of [WithSearch] have no words.
//
// The errors are those of Search.
func (c *Catalog) Words(ctx context.Context, query string, names ...string) ([]map[string]float64, error) {
	x, err := c.currentIndex(ctx)
	if err != nil {
		return nil, err
	}
	s := c.forAudience(x.state.snapshot)
	at := make([]int, len(names)) // documents, -1 for none
	for i, name := range names {
		skill, known := s.Skill(name)
		at[i] = -1
		for document, place := range s.documentsOf(x).skillAt {
			if known && place >= 0 && s.skills[place].ID == skill.ID {
				at[i] = document
			}
		}
	}
	return x.index.Words(query, at), nil
}

// addPage adds the strong hits from q.Offset on, at most limit. If no strong hits follow them,
// it adds the best weak hits.
func (out *Results) addPage(q *Query, limit int, found []search.Hit, skill func(document int) *core.Skill) {
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
}

// boost returns the function that returns the factor for the score of a document.
func (q *Query) boost(skill func(document int) *core.Skill) func(document int) float64 {
	return func(i int) float64 {
		s, factor := skill(i), 1.0
		if slices.Contains(q.Recent, s.Name) {
			factor = recentBoost
		}
		switch s.Scope {
		case core.ScopeProject:
			factor *= projectBoost
		case core.ScopeUser:
			factor *= userBoost
		}
		return factor
	}
}

// documentMap maps the documents of an index to the skills of a snapshot.
type documentMap struct {
	skillAt []int // document -> index in Snapshot.skills, -1 if the snapshot does not have it
	naming  *search.Naming
	total   int // documents that the snapshot has
}

// documentsOf returns the map for the documents of x. All indexes of one state have the same
// documents, so the snapshot computes it once.
func (s *Snapshot) documentsOf(x *searchIndex) *documentMap {
	s.indexOnce.Do(func() {
		v := &documentMap{skillAt: make([]int, len(x.skills))}
		names, qualified := make([]string, len(x.skills)), make([]string, len(x.skills))
		for i := range x.skills {
			v.skillAt[i] = -1
			if at, ok := s.byID[x.skills[i].ID]; ok && s.whyHidden[x.skills[i].ID] == "" {
				v.skillAt[i], names[i], qualified[i] = at, s.skills[at].Name, s.skills[at].Qualified
				v.total++
			}
		}
		v.naming = search.NewNaming(names, qualified)
		s.documents = v
	})
	return s.documents
}
