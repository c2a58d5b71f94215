package eino

import (
	"context"

	"github.com/cloudwego/eino/components/embedding"

	"github.com/satchel-go/satchel"
)

// Embedder adapts an embedder of Eino for catalog.Search.
func Embedder(e embedding.Embedder) satchel.Embedder { return embedder{e} }

type embedder struct{ inner embedding.Embedder }

// Embed forwards to Eino's embedder.
func (e embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.inner.EmbedStrings(ctx, texts)
	if err != nil {
		return nil, err
	}
	all := make([][]float32, len(vectors))
	for i, vector := range vectors {
		all[i] = make([]float32, len(vector))
		for n := range vector {
			all[i][n] = float32(vector[n])
		}
	}
	return all, nil
}
