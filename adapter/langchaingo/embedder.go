package langchaingo

import (
	"context"

	"github.com/satchel-go/satchel"
)

// documentEmbedder is the part of langchaingo's embeddings.Embedder that is used here. An
// import of its package would add clients of vector stores to every program.
type documentEmbedder interface {
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
}

// Embedder adapts an embeddings.Embedder of langchaingo for catalog.Search.
func Embedder(e documentEmbedder) satchel.Embedder { return embedder{e} }

type embedder struct{ inner documentEmbedder }

// Embed forwards to langchaingo's embedder.
func (e embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return e.inner.EmbedDocuments(ctx, texts)
}
