package places

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/text/printable"
)

// EmbedFlags are the flags of commands that search by vectors too.
type EmbedFlags struct {
	EmbedURL    string  `group:"How skills are searched:" placeholder:"URL" help:"Search by vectors too: the base URL of an OpenAI-compatible endpoint that has /embeddings. EMBED_API_KEY is its key."`
	EmbedModel  string  `group:"How skills are searched:" default:"text-embedding-3-small" placeholder:"NAME" help:"The model of --embed-url (default ${default})."`
	EmbedStrong float64 `group:"How skills are searched:" default:"0.85" placeholder:"N" help:"The cosine from which on a skill is a hit by its vector alone (default ${default}); search --calibrate finds it."`
}

// Options returns the option that lets a catalog search by vectors, none without --embed-url.
func (f *EmbedFlags) Options(env func(string) string) ([]catalog.Option, error) {
	if f.EmbedURL == "" {
		return nil, nil
	}
	at, err := url.Parse(f.EmbedURL)
	switch {
	case err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https":
		return nil, fmt.Errorf("%w: --embed-url %q: want an address such as http://127.0.0.1:8080/v1", cli.ErrUsage, hideUser(f.EmbedURL))
	case at.User != nil:
		return nil, fmt.Errorf("%w: --embed-url: want an address without a user; EMBED_API_KEY is the key", cli.ErrUsage)
	case f.EmbedStrong <= 0 || f.EmbedStrong > 1:
		return nil, fmt.Errorf("%w: --embed-strong %g: want more than 0 and at most 1", cli.ErrUsage, f.EmbedStrong)
	}
	if at.Path = strings.TrimRight(at.Path, "/"); !strings.HasSuffix(at.Path, "/embeddings") {
		at.Path += "/embeddings"
	}
	e := &endpointEmbedder{url: at.String(), model: f.EmbedModel, key: embedKey(at, env)}
	return []catalog.Option{catalog.WithSearch(catalog.Search{Embedding: catalog.Embedding{
		Embedder: e, ID: at.String() + " " + f.EmbedModel, Strong: f.EmbedStrong,
	}})}, nil
}

// hideUser leaves the user and the password out of an address that cannot be used.
func hideUser(address string) string {
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		address = "…" + address[at:]
	}
	return printable.Cut(address, 200)
}

// embedKey returns the key for an endpoint. That of the chat is only sent to the host of the chat.
func embedKey(at *url.URL, env func(string) string) string {
	if key := env("EMBED_API_KEY"); key != "" {
		return key
	}
	chat, err := url.Parse(cmp.Or(env("OPENAI_BASE_URL"), "https://api.openai.com/v1"))
	if err != nil || chat.Host != at.Host || chat.Scheme != at.Scheme {
		return ""
	}
	return env("OPENAI_API_KEY")
}

// endpointEmbedder asks an OpenAI-compatible endpoint for vectors.
type endpointEmbedder struct{ url, model, key string }

// Embed implements [catalog.Embedder].
func (e *endpointEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": e.model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, fmt.Errorf("encode texts: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask for vectors: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if e.key != "" {
		req.Header.Set("Authorization", "Bearer "+e.key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask for vectors: %w", err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxVectors+1))
	if err != nil {
		return nil, fmt.Errorf("read vectors of %s: %w", e.url, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s: %s", e.url, res.Status, printable.CutLine(string(data), 200))
	}
	if len(data) > maxVectors {
		return nil, fmt.Errorf("%s answers more than %d bytes", e.url, maxVectors)
	}
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("answer of %s: %w", e.url, err)
	}
	all := make([][]float32, len(texts))
	for _, v := range answer.Data {
		if v.Index >= 0 && v.Index < len(all) {
			all[v.Index] = v.Embedding
		}
	}
	for i := range all {
		if len(all[i]) == 0 {
			return nil, fmt.Errorf("%s answers without a vector for text %d of %d", e.url, i+1, len(texts))
		}
	}
	return all, nil
}
