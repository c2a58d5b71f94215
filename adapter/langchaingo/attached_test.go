package langchaingo

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/files/workspace"
	host "github.com/satchel-go/satchel/workspace"
)

// described lists files as "id|name|type|content".
func described(files []core.File) []string {
	var out []string
	for _, f := range files {
		content := "-"
		if f.Data != nil {
			data, err := f.Data()
			if content = string(data); err != nil {
				content = "error"
			}
		}
		out = append(out, strings.Join([]string{f.ID, f.Name, f.MIME, content}, "|"))
	}
	return out
}

func TestAttached(t *testing.T) {
	user := func(parts ...llms.ContentPart) llms.MessageContent {
		return llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: parts}
	}
	for _, tt := range []struct {
		name string
		msg  llms.MessageContent
		want []string
	}{
		{"text", human("data:text/csv,x"), nil},
		{"binary", user(llms.TextPart("see"), llms.BinaryPart("text/csv", []byte("hi"))), []string{"||text/csv|hi"}},
		{"empty", user(llms.BinaryPart("a/b", nil)), []string{"||a/b|"}},
		{"data URL", user(llms.ImageURLPart("data:image/png;base64,aGk=")), []string{"||image/png|hi"}},
		{"broken data URL", user(llms.ImageURLPart("data:image/png;base64,***")), []string{"||image/png|error"}},
		{"link", user(llms.ImageURLWithDetailPart("https://e.com/a", "low"), llms.ImageURLPart("")), []string{"https://e.com/a|||-"}},
		{"cached", user(llms.WithCacheControl(llms.BinaryPart("a/b", []byte("hi")), &llms.CacheControl{}), llms.CachedContent{}), []string{"||a/b|hi"}},
		{"generic", llms.MessageContent{Role: llms.ChatMessageTypeGeneric, Parts: []llms.ContentPart{llms.BinaryPart("a/b", []byte("hi"))}}, []string{"||a/b|hi"}},
		{"of the assistant", ai(llms.BinaryPart("a/b", []byte("hi"))), nil},
		{"of a tool", llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{llms.ImageURLPart("u")}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			msgs := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, "s"), tt.msg}
			if diff := differ(tt.want, described(attachedFiles(msgs, new(scratch).coreMessages(msgs)))); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAttachedAllocatesNothing: a request without files is as cheap as ever.
func TestAttachedAllocatesNothing(t *testing.T) {
	msgs := []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "s"), human("q"), ai(llms.TextContent{Text: "hm"}, call("1", "x", "{}")),
		result(llms.ToolCallResponse{ToolCallID: "1", Name: "x", Content: "r"}), human("more"),
	}
	refs := new(scratch).coreMessages(msgs)
	if n := testing.AllocsPerRun(100, func() {
		if attachedFiles(msgs, refs) != nil {
			t.Error("there are files, want none")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// TestFilesOfAMessageReachTheWorkspace sends files with a host that calls the model itself, and
// runs a skill on them.
func TestFilesOfAMessageReachTheWorkspace(t *testing.T) {
	runs, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	resolve := host.Sources{Resolve: func(_ context.Context, id string) (string, io.ReadCloser, error) {
		return "../a b.png", io.NopCloser(strings.NewReader("from " + id)), nil
	}}
	csv := workspace.StagedInput{Name: "work/inputs/upload_1", MIME: "text/csv", Size: 4}
	named := workspace.StagedInput{Name: "work/inputs/x.csv", OriginalName: "../../x.csv", MIME: "text/plain", Size: 2}
	linked := workspace.StagedInput{Name: "work/inputs/a b.png", MIME: "text/plain", Size: 26}
	for _, tt := range []struct {
		name    string
		resolve host.Sources
		want    []workspace.StagedInput
		warned  string
	}{
		{"with a resolver", resolve, []workspace.StagedInput{csv, named, linked}, ""},
		{"without", host.Sources{}, []workspace.StagedInput{csv, named}, "https://example.com/a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := runtime(t, satchel.WithRunner(satchel.Runner{Executor: runs, Resolve: tt.resolve}))
			load := call("1", "skill_load", `{"skill":"pdf"}`)
			run := call("2", "skill_run", `{"skill":"pdf","command":"cat \"$WORK_DIR/inputs/upload_1\""}`)
			adapter := install(t, rt, script(reply("", load), reply("", run)), nil)
			ctx := satchel.WithSession(t.Context(), "s")
			msgs := []llms.MessageContent{{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{
				llms.TextPart("Look."), llms.BinaryPart("text/csv", []byte("x,y\n")),
				llms.ImageURLPart("data:text/plain;name=..%2F..%2Fx.csv;base64,aGk="), llms.ImageURLPart("https://example.com/a"),
			}}}
			var answer llms.ToolCallResponse
			for _, c := range []llms.ToolCall{load, run} {
				if _, err := adapter.Model().GenerateContent(ctx, msgs); err != nil {
					t.Fatal(err)
				}
				if answer, err = adapter.Call(ctx, c); err != nil {
					t.Fatal(err)
				}
				msgs = append(msgs, ai(c), result(answer))
			}
			var got struct {
				Staged   []workspace.StagedInput `json:"staged_inputs"`
				Stdout   string
				Warnings []string
			}
			if err := json.Unmarshal([]byte(answer.Content), &got); err != nil {
				t.Fatalf("%v in %s", err, answer.Content)
			}
			if diff := differ(tt.want, got.Staged); diff != "" || got.Stdout != "x,y\n" {
				t.Errorf("wrote %q, staged (-want +got):\n%s", got.Stdout, diff)
			}
			if warnings := strings.Join(got.Warnings, "\n"); tt.warned == "" && warnings != "" || !strings.Contains(warnings, tt.warned) {
				t.Errorf("warnings %q, want one of %q", warnings, tt.warned)
			}
		})
	}
}
