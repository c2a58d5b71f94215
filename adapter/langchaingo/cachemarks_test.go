package langchaingo

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/satchel-go/satchel"
)

// markedAs lists the parts of each message as text, with a star for a mark.
func markedAs(msgs []llms.MessageContent) []string {
	var out []string
	for _, m := range msgs {
		var parts []string
		for _, part := range m.Parts {
			star := ""
			if c, ok := part.(llms.CachedContent); ok {
				part, star = c.ContentPart, "*"
			}
			text, _ := textOf(part)
			parts = append(parts, text+star)
		}
		out = append(out, strings.Join(parts, "|"))
	}
	return out
}

func TestMarked(t *testing.T) {
	text := func(role llms.ChatMessageType, parts ...llms.ContentPart) llms.MessageContent {
		return llms.MessageContent{Role: role, Parts: parts}
	}
	say := func(s string) llms.ContentPart { return llms.TextContent{Text: s} }
	hosts := llms.WithCacheControl(say("h"), anthropic.EphemeralCache())
	for _, tt := range []struct {
		name string
		msgs []llms.MessageContent
		want string
	}{
		{"first request", []llms.MessageContent{text(llms.ChatMessageTypeSystem, say("s")), text(llms.ChatMessageTypeHuman, say("a"), say("b"))}, "[s a|b*]"},
		{"in a turn", []llms.MessageContent{
			text(llms.ChatMessageTypeHuman, say("a")), text(llms.ChatMessageTypeAI, llms.ToolCall{}), text(llms.ChatMessageTypeTool, llms.ToolCallResponse{}),
		}, "[a*  ]"},
		{"a later turn", []llms.MessageContent{
			text(llms.ChatMessageTypeHuman, say("a")), text(llms.ChatMessageTypeAI, say("x")), text(llms.ChatMessageTypeHuman, say("b")),
			text(llms.ChatMessageTypeAI, say("y")), text(llms.ChatMessageTypeHuman, say("c")),
		}, "[a x b* y c*]"},
		{"a picture by its URL", []llms.MessageContent{text(llms.ChatMessageTypeHuman, say("a"), llms.ImageURLContent{URL: "u"})}, "[a|]"},
		{"no parts", []llms.MessageContent{text(llms.ChatMessageTypeHuman)}, "[]"},
		{"marked by the host", []llms.MessageContent{text(llms.ChatMessageTypeHuman, hosts)}, "[h*]"},
		{"all marks taken", []llms.MessageContent{
			text(llms.ChatMessageTypeSystem, hosts, hosts, hosts, hosts), text(llms.ChatMessageTypeHuman, say("a")),
		}, "[h*|h*|h*|h* a]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := deepCopy(tt.msgs)
			c := config{client: claude, mark: anthropic.EphemeralCache()}
			if got := fmt.Sprint(markedAs(c.addCacheMarks(tt.msgs, new(scratch).coreMessages(tt.msgs)))); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if !reflect.DeepEqual(tt.msgs, before) {
				t.Error("the messages of the caller were changed")
			}
			for _, other := range []config{{client: claude}, {client: openAI, mark: anthropic.EphemeralCache()}} {
				if got := other.addCacheMarks(tt.msgs, new(scratch).coreMessages(tt.msgs)); !reflect.DeepEqual(got, tt.msgs) {
					t.Errorf("%+v marks %v", other, markedAs(got))
				}
			}
		})
	}
}

// What reaches the service differs by the marks alone.
func TestMarksOnTheWire(t *testing.T) {
	send := func(opts ...Option) string {
		s := serve(t, "application/json", `{"id":"1","type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
		llm, err := anthropic.New(anthropic.WithToken("t"), anthropic.WithBaseURL(s.URL), anthropic.WithModel("m"))
		if err != nil {
			t.Fatal(err)
		}
		adapter, err := Install(runtime(t), llm, nil, opts...)
		if err != nil {
			t.Fatal(err)
		}
		ctx := satchel.WithSession(t.Context(), "s")
		if _, err := adapter.Model().GenerateContent(ctx, []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hi")}); err != nil {
			t.Fatal(err)
		}
		return s.requests[0]
	}
	plain, marked := send(), send(WithCacheMarks(anthropic.EphemeralCache()))
	const mark = `,"cache_control":{"type":"ephemeral"}`
	if !strings.Contains(marked, `"hi"`+mark) || strings.ReplaceAll(marked, mark, "") != plain {
		t.Errorf("marked\n%s\nplain\n%s", marked, plain)
	}
}

func TestBadCacheControl(t *testing.T) {
	for _, control := range []*llms.CacheControl{nil, {}} {
		if _, err := Install(runtime(t), script(), nil, WithCacheMarks(control)); !errors.Is(err, errArgument) {
			t.Errorf("%+v: %v", control, err)
		}
	}
}
