package catalog

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/search"
)

// Embedder turns texts into vectors. Texts of similar meaning get vectors of similar direction.
// It is safe for concurrent use. Function Embedder of each adapter wraps an embedder of its
// framework.
type Embedder interface {
	// Embed returns a vector for each text, all of one length.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// ErrNoEmbedder reports that a catalog has no embedder; see [Embedding].
var ErrNoEmbedder = errors.New("the catalog has no embedder: set one by WithSearch")

var errVectors = errors.New("the embedder gives no vectors")

// textDigest is the digest of a text that the embedder gets.
type textDigest [16]byte

// vectors keeps the vectors of the skills; all have the length 1. It is nil without an embedder.
type vectors struct {
	embedder Embedder
	token    chan struct{} // holds one token: the right to ask for skills

	mu     sync.Mutex
	byText map[textDigest][]float32
}

func newVectors(e Embedder) *vectors {
	if e == nil {
		return nil
	}
	return &vectors{embedder: e, token: make(chan struct{}, 1), byText: map[textDigest][]float32{}}
}

// embeddingText returns the text of a skill that the embedder gets.
func embeddingText(skill *core.Skill) string { return skill.Name + "\n" + skill.Description }

func digestOfText(text string) textDigest {
	sum := sha256.Sum256([]byte(text))
	return textDigest(sum[:])
}

// forIndex returns the vectors of the documents of an index. It asks the embedder for missing
// ones and forgets those of other texts. hasNew reports new vectors, even with an error.
func (v *vectors) forIndex(ctx context.Context, x *searchIndex) (all [][]float32, hasNew bool, err error) {
	select {
	case v.token <- struct{}{}:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	defer func() { <-v.token }()
	v.mu.Lock()
	known := v.byText
	v.mu.Unlock()
	all, next := make([][]float32, len(x.skills)), make(map[textDigest][]float32, len(x.skills))
	var missing []int
	for i := range x.digests {
		if vector, ok := known[x.digests[i]]; ok {
			all[i], next[x.digests[i]] = vector, vector
			continue
		}
		missing = append(missing, i)
	}
	defer func() {
		v.mu.Lock()
		v.byText = next
		v.mu.Unlock()
	}()
	for batch := range slices.Chunk(missing, embeddedBatch) {
		texts := make([]string, len(batch))
		for n, i := range batch {
			texts[n] = embeddingText(&x.skills[i])
		}
		fresh, err := v.embed(ctx, texts)
		if err != nil {
			return nil, hasNew, err
		}
		for n, i := range batch {
			all[i], next[x.digests[i]], hasNew = fresh[n], fresh[n], true
		}
	}
	for i := range all {
		if len(all[i]) != len(all[0]) {
			return nil, hasNew, fmt.Errorf("%w of one length: %d and %d numbers", errVectors, len(all[0]), len(all[i]))
		}
	}
	return all, hasNew, nil
}

// embed returns the vectors of texts, scaled to the length 1.
func (v *vectors) embed(ctx context.Context, texts []string) ([][]float32, error) {
	all, err := v.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	if len(all) != len(texts) {
		return nil, fmt.Errorf("%w: %d for %d texts", errVectors, len(all), len(texts))
	}
	for i := range all {
		sum := 0.0
		for _, n := range all[i] {
			sum += float64(n) * float64(n)
		}
		size := math.Sqrt(sum)
		if len(all[i]) > maxVector || size == 0 || math.IsNaN(size) || math.IsInf(size, 0) {
			return nil, fmt.Errorf("%w: one has %d numbers and the length %g", errVectors, len(all[i]), size)
		}
		all[i] = slices.Clone(all[i])
		for n := range all[i] {
			all[i][n] /= float32(size)
		}
	}
	return all, nil
}

// embedSkills returns the vectors of all skills, and saves new ones in the cache.
func (c *catalogData) embedSkills(ctx context.Context, x *searchIndex) ([][]float32, error) {
	all, hasNew, err := c.vectors.forIndex(ctx, x)
	if hasNew {
		c.save(ctx)
	}
	return all, err
}

// similarity says how similar a document is to a query.
type similarity struct {
	cosine  float64 // the mean of all phrasings
	similar int     // how many phrasings it is similar to
}

// similarities returns the similarity of each document to the phrasings.
func (c *catalogData) similarities(ctx context.Context, x *searchIndex, phrasings []string) ([]similarity, error) {
	ctx, cancel := context.WithTimeout(ctx, embedderWait)
	defer cancel()
	skills, err := c.embedSkills(ctx, x)
	if err != nil {
		return nil, err
	}
	queries, err := c.vectors.embed(ctx, phrasings)
	if err != nil {
		return nil, err
	}
	near := make([]similarity, len(skills))
	for _, q := range queries {
		if len(q) != len(skills[0]) {
			return nil, fmt.Errorf("%w of one length: %d and %d numbers", errVectors, len(skills[0]), len(q))
		}
		for i, s := range skills {
			sum := float32(0)
			for n := range s {
				sum += s[n] * q[n]
			}
			near[i].cosine += float64(sum) / float64(len(queries))
			if float64(sum) >= c.cfg.similarity-1e-6 { // float32 rounds
				near[i].similar++
			}
		}
	}
	return near, nil
}

// Similarities returns the cosine of each skill to a text, by the name of the skill. Hidden skills
// have none. The error is that of the embedder, or of ctx, or [ErrNoEmbedder].
func (c *Catalog) Similarities(ctx context.Context, text string) (map[string]float64, error) {
	if c.vectors == nil {
		return nil, ErrNoEmbedder
	}
	x, err := c.currentIndex(ctx)
	if err != nil || len(x.skills) == 0 {
		return nil, err
	}
	near, err := c.similarities(ctx, x, []string{text})
	if err != nil {
		return nil, err
	}
	s := c.forAudience(x.state.snapshot)
	documents, all := s.documentsOf(x), make(map[string]float64, len(near))
	for i := range near {
		if at := documents.skillAt[i]; at >= 0 {
			all[s.skills[at].Name] = near[i].cosine
		}
	}
	return all, nil
}

// embeddable returns the phrasings of a query that have words, cut to the bounds of a search.
func (q *Query) embeddable() (all []string) {
	for _, text := range q.Phrasings[:min(len(q.Phrasings), maxPhrasings)] {
		if search.Terms(text) == 0 {
			continue
		}
		if utf8.RuneCountInString(text) > maxPhrasing {
			text = string([]rune(text)[:maxPhrasing])
		}
		all = append(all, text)
	}
	return all
}

// mergeRankings orders the hits of a search by words and by similarity. It adds the most similar
// documents to found. Documents that are similar to half of the phrasings become strong hits.
func mergeRankings(found []search.Hit, near []similarity, phrasings int, isAllowed func(int) bool, name func(int) string) []search.Hit {
	best := 0.0
	for _, h := range found {
		best = max(best, h.Score)
	}
	isFound := make(map[int]bool, len(found)) // by document
	for at := range found {
		isFound[found[at].Document] = true
		if best > 0 {
			found[at].Score /= best
		}
	}
	isBest := make(map[int]bool) // documents whose cosine counts
	for _, h := range found[:min(len(found), embeddedBest)] {
		isBest[h.Document] = true
	}
	var nearest []int
	for i := range near {
		if isAllowed(i) {
			nearest = append(nearest, i)
		}
	}
	slices.SortFunc(nearest, func(a, b int) int {
		return cmp.Or(cmp.Compare(near[b].cosine, near[a].cosine), cmp.Compare(name(a), name(b)), cmp.Compare(a, b))
	})
	for _, i := range nearest[:min(len(nearest), embeddedBest)] {
		isBest[i] = true
		if !isFound[i] {
			found = append(found, search.Hit{Document: i})
		}
	}
	for at := range found {
		if isBest[found[at].Document] {
			found[at].Score += embeddedWeight * near[found[at].Document].cosine
		}
		if similar := near[found[at].Document].similar; similar > 0 && 2*similar >= phrasings {
			found[at].Strong = true
		}
	}
	slices.SortFunc(found, func(a, b search.Hit) int {
		return cmp.Or(scan.TrueFirst(a.Explicit, b.Explicit), cmp.Compare(b.Score, a.Score), cmp.Compare(name(a.Document), name(b.Document)), cmp.Compare(a.Document, b.Document))
	})
	return found
}
