package langchaingo

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tmc/langchaingo/embeddings"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
)

// With an embedder of langchaingo, over HTTP, a search finds first the skill that means the
// query, although its words differ.
func TestEmbedder(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/embeddings" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		type vector struct {
			Embedding []float32 `json:"embedding"`
			Index     int       `json:"index"`
		}
		var answer struct {
			Data []vector `json:"data"`
		}
		for i, text := range asked.Input {
			v := []float32{0.1, 1}
			if strings.Contains(text, "car") || strings.Contains(text, "vehicle") {
				v = []float32{1, 0.1}
			}
			answer.Data = append(answer.Data, vector{v, i})
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	llm, err := openai.New(openai.WithBaseURL(server.URL), openai.WithToken("none"), openai.WithEmbeddingModel("e"))
	if err != nil {
		t.Fatal(err)
	}
	inner, err := embeddings.NewEmbedder(llm)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(t.Context(), []source.Root{source.FS("s", fstest.MapFS{
		"mend/SKILL.md":  {Data: []byte("---\nname: mend\ndescription: Repairs a car.\n---\n")},
		"paint/SKILL.md": {Data: []byte("---\nname: paint\ndescription: Repairs a painting.\n---\n")},
	})}, catalog.WithSearch(catalog.Search{Embedding: catalog.Embedding{ID: "e", Embedder: Embedder(inner)}}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	found, err := c.Search(t.Context(), catalog.Query{Phrasings: []string{"repair the vehicle"}})
	if err != nil || found.ByWords != nil || len(found.Hits) != 2 || found.Hits[0].Skill.Name != "mend" || found.Hits[0].Score-found.Hits[1].Score < 0.2 {
		t.Errorf("found %+v, %v", found, err)
	}
}
