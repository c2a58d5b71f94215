package chat

import (
	"context"
	"net/http"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// Complete asks a model one question, without tools and without skills.
func Complete(ctx context.Context, where Endpoint, transport http.RoundTripper, system, text string) (answer string, usage core.Usage, err error) {
	model, err := einoModel(ctx, where, &Flags{transport: transport}, "")
	if err != nil {
		return "", usage, err
	}
	said, err := model.Generate(ctx, []*schema.Message{schema.SystemMessage(system), schema.UserMessage(text)})
	if err != nil {
		return "", usage, err
	}
	if meta := said.ResponseMeta; meta != nil && meta.Usage != nil {
		usage = core.Usage{Prompt: meta.Usage.PromptTokens, Cached: meta.Usage.PromptTokenDetails.CachedTokens, Completion: meta.Usage.CompletionTokens}
	}
	return said.Content, usage, nil
}
