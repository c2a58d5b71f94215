package langchaingo

import (
	"context"

	"github.com/satchel-go/satchel"
)

// documentEmbedder is what is used of langchaingo's embeddings.Embedder. The package of that type
// would bring the clients of vector stores along.
type documentEmbedder interface {
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
}

// Embedder adapts an embeddings.Embedder of langchaingo for [catalog.Search].
func Embedder(e documentEmbedder) satchel.Embedder { return embedder{e} }

type embedder struct{ inner documentEmbedder }

// Embed forwards to langchaingo's embedder.
func (e embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return e.inner.EmbedDocuments(ctx, texts)
}
