package langchaingo

import (
	"context"

	"github.com/tmc/langchaingo/embeddings"

	"github.com/satchel-go/satchel"
)

// Embedder adapts an embedder of langchaingo for [catalog.Search].
func Embedder(e embeddings.Embedder) satchel.Embedder { return embedder{e} }

type embedder struct{ inner embeddings.Embedder }

// Embed forwards to langchaingo's embedder.
func (e embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return e.inner.EmbedDocuments(ctx, texts)
}
