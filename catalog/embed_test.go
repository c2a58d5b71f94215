package catalog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/catalog/source"

	"github.com/satchel-go/satchel/core"
)

// fakeEmbedder is an embedder that knows a few things, one a dimension.
type fakeEmbedder struct {
	mu     sync.Mutex
	texts  []string // texts that Embed was called with
	err    error
	vector func(text string) []float32 // if set, replaces the built-in vectors
}

func (m *fakeEmbedder) Embed(_ context.Context, texts []string) (all [][]float32, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.texts = append(m.texts, texts...)
	for _, text := range texts {
		if m.vector != nil {
			all = append(all, m.vector(text))
			continue
		}
		v := []float32{0, 0, 0, 0.1}
		for i, words := range [][]string{{"car", "vehicle", "automobile"}, {"picture", "photo", "image"}, {"money", "invoice", "bill"}} {
			for _, w := range words {
				if strings.Contains(text, w) {
					v[i] = 1
				}
			}
		}
		all = append(all, v)
	}
	return all, m.err
}

func garage(t *testing.T) string {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"mend/SKILL.md":   skillText("mend", "Repairs a car.", "Body.\n"),
		"paint/SKILL.md":  skillText("paint", "Repairs a picture.", "Body.\n"),
		"charge/SKILL.md": skillText("charge", "Writes an invoice.", "Body.\n"),
		"hidden/SKILL.md": "---\nname: hidden\ndescription: Repairs a vehicle.\ndisable-model-invocation: true\n---\n",
	})
	return dir
}

func TestEmbedder(t *testing.T) {
	m := &fakeEmbedder{}
	dir, kept := garage(t), t.TempDir()
	roots := []source.Root{source.Dir(dir)}
	c := mustOpen(t, roots, WithSearch(Search{Embedding: Embedding{ID: "m", Embedder: m}}), WithCache(kept))
	if err := c.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "embedded", []string{"charge\nWrites an invoice.", "mend\nRepairs a car.", "paint\nRepairs a picture."}, m.texts)
	for phrasing, want := range map[string][]string{
		"repair the automobile":          {"mend", "paint", "charge"},
		"repair my photo":                {"paint", "mend", "charge"},
		"vehicle":                        {"mend", "charge", "paint"},
		"mend-it the car photo, $charge": {"charge", "mend", "paint"},
		"the of and":                     nil,
	} {
		same(t, phrasing, want, findNames(t, c, Query{Phrasings: []string{phrasing}}))
	}
	only := Query{Phrasings: []string{"vehicle"}, Allow: func(s core.Skill) bool { return s.Name != "mend" }}
	same(t, "not allowed", []string{"charge", "paint"}, findNames(t, c, only))
	found, err := c.Search(t.Context(), Query{Phrasings: []string{"vehicle"}})
	if err != nil || found.Strong != 1 || found.Hits[0].Skill.Name != "mend" || !found.Hits[0].Strong || found.ByWords != nil {
		t.Errorf("what is similar is not the strong hit: %+v, %v", found, err)
	}
	// The texts share two of three dimensions: their cosine is 0.71.
	for cosine, want := range map[float64]int{0.7: 2, 0.72: 0} {
		c := mustOpen(t, roots, WithSearch(Search{Embedding: Embedding{ID: "m", Embedder: m, Strong: cosine}}))
		if found, err := c.Search(t.Context(), Query{Phrasings: []string{"vehicle on a photo"}}); err != nil || found.Strong != want {
			t.Errorf("similar from %g: %+v, %v, want %d", cosine, found, err, want)
		}
	}
	for _, cosine := range []float64{-1, 1.1, math.NaN()} {
		if _, err := Open(t.Context(), nil, WithSearch(Search{Embedding: Embedding{Strong: cosine}})); err == nil {
			t.Errorf("the similarity %g is accepted", cosine)
		}
	}
	// A text is embedded only once, by this process or another one.
	write(t, dir, map[string]string{"mend/SKILL.md": skillText("mend", "Repairs a car quickly.", "Body.\n")})
	if _, err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.texts = nil
	if err := c.Index(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "embedded after an edit", []string{"mend\nRepairs a car quickly."}, m.texts)
	m.texts = nil
	again := mustOpen(t, roots, WithSearch(Search{Embedding: Embedding{ID: "m", Embedder: m}}), WithCache(kept))
	same(t, "from the cache", []string{"mend", "paint", "charge"}, findNames(t, again, Query{Phrasings: []string{"repair the automobile"}}))
	same(t, "embedded by another process", []string{"repair the automobile"}, m.texts)
	m.texts = nil
	if err := mustOpen(t, roots, WithSearch(Search{Embedding: Embedding{ID: "another", Embedder: m}}), WithCache(kept)).Index(t.Context()); err != nil || len(m.texts) != 3 {
		t.Errorf("another model: embedded %q, %v", m.texts, err)
	}
}

// A message is a hit by words or by similarity, and Similarities returns the cosines of all skills.
func TestEmbedderDecidesToo(t *testing.T) {
	roots := []source.Root{source.Dir(garage(t))}
	c := mustOpen(t, roots, WithSearch(Search{Embedding: Embedding{ID: "m", Embedder: &fakeEmbedder{}, Strong: 0.9}}))
	for text, want := range map[string]string{"my automobile is broken": "mend", "repairs of a car": "mend", "please bill them": "charge", "how are you?": ""} {
		found, err := c.Search(t.Context(), Query{Phrasings: []string{text}, Messages: true, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(found.Hits) > 0 && found.Hits[0].Strong {
			got = found.Hits[0].Skill.Name
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	near, err := c.Similarities(t.Context(), "the automobile")
	if err != nil || len(near) != 3 || near["mend"] < 0.99 || near["charge"] > 0.1 {
		t.Errorf("similarities %v, %v", near, err)
	}
	seen := c.For("few", func(s core.Skill) bool { return s.Name != "mend" })
	if near, err = seen.Similarities(t.Context(), "the automobile"); err != nil || len(near) != 2 {
		t.Errorf("of an audience %v, %v", near, err)
	}
	if _, err := mustOpen(t, roots).Similarities(t.Context(), "x"); !errors.Is(err, ErrNoEmbedder) {
		t.Errorf("without an embedder: %v", err)
	}
}

// Where the embedder fails the search goes by words, and says so.
func TestEmbedderFails(t *testing.T) {
	down := errors.New("down")
	numbers := func(n int) func(string) []float32 {
		return func(text string) []float32 {
			if strings.Contains(text, "\n") {
				return []float32{1, 2}
			}
			return make([]float32, n)
		}
	}
	roots := []source.Root{source.Dir(garage(t))}
	want := findNames(t, mustOpen(t, roots), Query{Phrasings: []string{"repair the automobile"}})
	for name, m := range map[string]*fakeEmbedder{
		"error":         {err: down},
		"no vectors":    {vector: func(string) []float32 { return nil }},
		"zeros":         {vector: func(string) []float32 { return []float32{0, 0} }},
		"other lengths": {vector: func(text string) []float32 { return []float32{1, 1, 1}[:1+len(text)%3] }},
		"of the query":  {vector: numbers(3)},
		"too long":      {vector: func(string) []float32 { v := make([]float32, maxVector+1); v[0] = 1; return v }},
	} {
		t.Run(name, func(t *testing.T) {
			c := mustOpen(t, roots, WithSearch(Search{Embedding: Embedding{ID: "m", Embedder: m}}))
			found, err := c.Search(t.Context(), Query{Phrasings: []string{"repair the automobile"}})
			if err != nil || found.ByWords == nil || m.err != nil && !errors.Is(found.ByWords, down) {
				t.Errorf("%+v, %v", found, err)
			}
			var names []string
			for _, h := range found.Hits {
				names = append(names, h.Skill.Name)
			}
			same(t, "found", want, names)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := mustOpen(t, roots, WithSearch(Search{Embedding: Embedding{ID: "m", Embedder: &fakeEmbedder{}}})).Search(ctx, Query{Phrasings: []string{"x"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, opt := range []Option{WithSearch(Search{Embedding: Embedding{ID: "", Embedder: &fakeEmbedder{}}}), WithSearch(Search{Embedding: Embedding{ID: "m", Embedder: nil}})} {
		if _, err := Open(t.Context(), nil, opt); err == nil {
			t.Error("half an embedder is accepted")
		}
	}
}

// Many skills are embedded in parts, and what is far by both counts less.
func TestEmbedderOfManySkills(t *testing.T) {
	dir, files := t.TempDir(), map[string]string{}
	for i := range 2*embeddedBatch + 1 {
		name := fmt.Sprintf("s%03d", i)
		files[filepath.ToSlash(filepath.Join(name, "SKILL.md"))] = skillText(name, "Repairs things of kind "+name+".", "")
	}
	files["zzz/SKILL.md"] = skillText("zzz", "Looks after an automobile.", "")
	write(t, dir, files)
	c := mustOpen(t, []source.Root{source.Dir(dir)}, WithSearch(Search{Embedding: Embedding{ID: "m", Embedder: &fakeEmbedder{}}}))
	found, err := c.Search(t.Context(), Query{Phrasings: []string{"repair the car"}, Limit: 3})
	if err != nil || found.ByWords != nil || found.Total != len(files) {
		t.Fatalf("%+v, %v", found, err)
	}
	x, err := c.currentIndex(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if all, made, err := c.vectors.forIndex(t.Context(), x); err != nil || made || len(all) != len(files) {
		t.Errorf("%d vectors, made again: %t, %v", len(all), made, err)
	}
}
