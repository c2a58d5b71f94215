package eino

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/cloudwego/eino/components/embedding"
)

type fixedVectors struct{ err error }

func (f fixedVectors) EmbedStrings(_ context.Context, texts []string, _ ...embedding.Option) ([][]float64, error) {
	var all [][]float64
	for _, text := range texts {
		all = append(all, []float64{float64(len(text)), 0.5})
	}
	return all, f.err
}

func TestEmbedder(t *testing.T) {
	got, err := Embedder(fixedVectors{}).Embed(t.Context(), []string{"a", "abc"})
	if want := [][]float32{{1, 0.5}, {3, 0.5}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("vectors %v, %v, want %v", got, err, want)
	}
	broken := errors.New("no such model")
	if got, err := Embedder(fixedVectors{broken}).Embed(t.Context(), []string{"a"}); !errors.Is(err, broken) || got != nil {
		t.Errorf("vectors %v, %v", got, err)
	}
}
