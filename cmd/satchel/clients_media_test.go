package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	einoopenai "github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/cmd/satchel/internal/measure"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/tracing/line"
	tracing "github.com/satchel-go/satchel/observe/trace"
	"github.com/satchel-go/satchel/satcheltest"
)

// A traced request with pictures has the tokens of the body that the client has sent, and breaks where that breaks.
func TestTraceOfMedia(t *testing.T) {
	for name, tc := range map[string]struct {
		send  sender
		kinds map[string]int // messages in the trace with a part of a kind
		lost  int            // breaks
	}{
		"eino":        {sendEinoMedia, map[string]int{"image": 6, "audio": 1, "video": 1}, 2},
		"langchaingo": {sendChainMedia, map[string]int{"image": 5, "file": 1}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := satcheltest.Open(func(satcheltest.Request) satcheltest.Response { return satcheltest.Response{Text: "A cat."} })
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			file := traced(t, tc.send, server.URL())
			lines, want := readTrace(t, file), tokensOf(t, server.Requests())
			calls := linesOf(lines, line.EventCall)
			if len(calls) != len(want) {
				t.Fatalf("%d calls for %d requests", len(calls), len(want))
			}
			for i, c := range calls {
				if c.Parts.Sum() != want[i] {
					t.Errorf("call %d has %d tokens in %+v, want %d for\n%s", i+1, c.Parts.Sum(), c.Parts, want[i], server.Requests()[i].Raw)
				}
			}
			checkMedia(t, file, tc.kinds)
			var log bytes.Buffer
			for _, r := range server.Requests() {
				log.Write(append(bytes.TrimSpace(r.Raw), '\n'))
			}
			sent, written := cacheReportOf(t, log.String()), cacheReportOf(t, program(t, nil, "", "trace", "--requests", file).out)
			var lost []int
			for _, b := range parseRequests(t, file).breaks {
				lost = append(lost, b.LostTokens)
			}
			if got := lostTokens(sent); !slices.Equal(lost, got) || len(got) != tc.lost || got[0] < prompt.MediaTokens {
				t.Errorf("the trace has breaks that lose %d, want %d", lost, got)
			}
			if written.Prompt != sent.Prompt || !slices.Equal(lostTokens(written), lost) {
				t.Errorf("the requests of the trace have %d tokens and breaks that lose %d, want %d and %d", written.Prompt, lostTokens(written), sent.Prompt, lost)
			}
		})
	}
}

func cacheReportOf(t *testing.T, log string) (r measure.CacheReport) {
	t.Helper()
	out := program(t, nil, log, "cache-report", "--json", "-")
	if err := json.Unmarshal([]byte(out.out), &r); err != nil {
		t.Fatalf("%v: %+v", err, out)
	}
	return r
}

func lostTokens(r measure.CacheReport) (lost []int) {
	for _, b := range r.Breaks {
		lost = append(lost, b.Lost)
	}
	return lost
}

// checkMedia checks the kinds of the media of a trace, and that it has no address and no content.
func checkMedia(t *testing.T, file string, want map[string]int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"example.com", pixel, "data:"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the trace has %q", secret)
		}
	}
	got := map[string]int{}
	for _, m := range parseRequests(t, file).messages {
		for _, media := range m.Media {
			if got[media.Kind]++; !strings.HasPrefix(media.Digest, "sha256:") {
				t.Errorf("media %+v has no digest", media)
			}
		}
	}
	for kind, n := range want {
		if got[kind] != n || len(got) != len(want) {
			t.Errorf("the trace has media %v, want %v", got, want)
		}
	}
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

func sendEinoMedia(t *testing.T, rt *satchel.Runtime, url string) error {
	model, err := einoopenai.NewChatModel(t.Context(), &einoopenai.ChatModelConfig{BaseURL: url, APIKey: "none", Model: "m"})
	if err != nil {
		return err
	}
	cfg := &adk.ChatModelAgentConfig{Name: "a", Description: "d", Model: model}
	if _, err := eino.Install(cfg, rt); err != nil {
		return err
	}
	text := func(text string) schema.MessageInputPart {
		return schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: text}
	}
	picture := func(url, data string) schema.MessageInputPart {
		p := &schema.MessageInputImage{Detail: schema.ImageURLDetailLow}
		if p.URL = &url; data != "" {
			p.URL, p.Base64Data, p.MIMEType = nil, &data, "image/png"
		}
		return schema.MessageInputPart{Type: schema.ChatMessagePartTypeImageURL, Image: p}
	}
	user := func(parts ...schema.MessageInputPart) *schema.Message {
		return &schema.Message{Role: schema.User, Name: "ann", UserInputMultiContent: parts}
	}
	sound, film := pixel, "https://example.com/film.mp4"
	says := &schema.Message{Role: schema.Assistant, Content: "A cat.", Name: "bot", ReasoningContent: "It has whiskers."}
	first := user(text("What is this?"), picture("https://example.com/a.png", ""))
	history := []*schema.Message{schema.SystemMessage("You look."), first}
	send := func(more ...*schema.Message) {
		history = append(slices.Clone(history), more...)
		if err == nil {
			_, err = cfg.Model.Generate(satchel.WithSession(context.Background(), "s"), history)
		}
	}
	send()
	send(says, user(picture("", pixel), text("And this?"), picture("https://example.com/a.png", "")))
	history[1] = user(text("What is this?"), picture("https://example.com/b.png", ""))
	send()
	send(says, user(
		schema.MessageInputPart{Type: schema.ChatMessagePartTypeAudioURL, Audio: &schema.MessageInputAudio{MessagePartCommon: schema.MessagePartCommon{Base64Data: &sound, MIMEType: "audio/wav"}}},
		schema.MessageInputPart{Type: schema.ChatMessagePartTypeVideoURL, Video: &schema.MessageInputVideo{MessagePartCommon: schema.MessagePartCommon{URL: &film}}}))
	asks := &schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{{ID: "1", Type: "function", Function: schema.FunctionCall{Name: "shot", Arguments: "{}"}}}}
	shot := func(url string) *schema.Message {
		return &schema.Message{Role: schema.Tool, ToolCallID: "1", ToolName: "shot", MultiContent: []schema.ChatMessagePart{
			{Type: schema.ChatMessagePartTypeText, Text: "The page:"},
			{Type: schema.ChatMessagePartTypeImageURL, ImageURL: &schema.ChatMessageImageURL{URL: url}}}}
	}
	send(asks, shot("https://example.com/shot.png"))
	history[len(history)-1] = shot("data:image/png;base64," + pixel)
	send()
	return err
}

func sendChainMedia(t *testing.T, rt *satchel.Runtime, url string) error {
	a, err := openChain(rt, url)
	if err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		return err
	}
	says := llms.TextParts(llms.ChatMessageTypeAI, "A cat.")
	user := func(parts ...llms.ContentPart) llms.MessageContent {
		return llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: parts}
	}
	history := []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "You look."),
		user(llms.TextContent{Text: "What is this?"}, llms.ImageURLWithDetailPart("https://example.com/a.png", "low")),
	}
	send := func(more ...llms.MessageContent) {
		history = append(slices.Clone(history), more...)
		if err == nil {
			_, err = a.Model().GenerateContent(satchel.WithSession(context.Background(), "s"), history)
		}
	}
	send()
	send(says, user(llms.ImageURLContent{URL: "data:image/png;base64," + pixel}, llms.TextContent{Text: "And this?"}, llms.ImageURLContent{URL: "https://example.com/a.png"}))
	history[1] = user(llms.TextContent{Text: "What is this?"}, llms.ImageURLWithDetailPart("https://example.com/b.png", "low"))
	send()
	send(says, user(llms.BinaryPart("application/pdf", data)))
	history[len(history)-1] = user(llms.BinaryPart("image/png", data))
	send()
	send(says, user(llms.TextContent{Text: "Thanks."}))
	return err
}

// An answer in speech is sent again by its id.
func TestTraceOfSpeech(t *testing.T) {
	var log bytes.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(&log, r.Body); err != nil {
			t.Error(err)
		}
		log.WriteByte('\n')
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","audio":{"id":"audio_1","data":"`+pixel+`","transcript":"A cat."}}}]}`)
	}))
	defer server.Close()
	var out bytes.Buffer
	trace, err := tracing.New(&out)
	if err != nil {
		t.Fatal(err)
	}
	rt, err := satchel.New(satchel.WithSkillFS("skills", os.DirFS(testSkills(t))), satchel.WithTrace(trace))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	model, err := einoopenai.NewChatModel(t.Context(), &einoopenai.ChatModelConfig{
		BaseURL: server.URL, APIKey: "none", Model: "m", Modalities: []einoopenai.Modality{einoopenai.AudioModality}, Audio: &einoopenai.Audio{Format: einoopenai.AudioFormatWav},
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := &adk.ChatModelAgentConfig{Name: "a", Description: "d", Model: model}
	if _, err := eino.Install(cfg, rt); err != nil {
		t.Fatal(err)
	}
	history := []*schema.Message{schema.UserMessage("What is this?")}
	for range 2 {
		said, err := cfg.Model.Generate(satchel.WithSession(t.Context(), "s"), history)
		if err != nil {
			t.Fatal(err)
		}
		history = append(history, said, schema.UserMessage("Go on."))
	}
	if err := trace.Close(); err != nil {
		t.Error(err)
	}
	sum := 0
	for l := range strings.Lines(out.String()) {
		if h := decoded[line.Head](t, []byte(l)); h.Event == line.EventCall {
			sum += decoded[line.Call](t, []byte(l)).Parts.Sum()
		}
	}
	if want := cacheReportOf(t, log.String()); sum != want.Prompt || sum < prompt.MediaTokens || len(want.Breaks) > 0 {
		t.Errorf("the trace has %d tokens, want those of %+v for\n%s", sum, want, log.String())
	}
}
