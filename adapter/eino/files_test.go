package eino_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/files/workspace"
	host "github.com/satchel-go/satchel/workspace"
)

// fileMessage is a message of a user with files, and one that is only linked.
func fileMessage(link string, files ...[2]string) *schema.Message {
	m := &schema.Message{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{
		{Type: schema.ChatMessagePartTypeText, Text: "Look at these."},
		{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{URL: &link}}},
	}}
	for _, f := range files {
		text := base64.StdEncoding.EncodeToString([]byte(f[1]))
		m.UserInputMultiContent = append(m.UserInputMultiContent, schema.MessageInputPart{
			Type: schema.ChatMessagePartTypeFileURL,
			File: &schema.MessageInputFile{MessagePartCommon: schema.MessagePartCommon{Base64Data: &text}, Name: f[0]},
		})
	}
	return m
}

// TestFilesOfAMessageReachTheWorkspace runs an agent whose user attached files.
func TestFilesOfAMessageReachTheWorkspace(t *testing.T) {
	local, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	resolve := host.Sources{Resolve: func(_ context.Context, id string) (string, io.ReadCloser, error) {
		return "", io.NopCloser(strings.NewReader("from " + id)), nil
	}}
	for _, tt := range []struct {
		name    string
		resolve host.Sources
		link    string // path of the linked file in the workspace
		warned  string
	}{
		{"with a resolver", resolve, "upload_1", ""},
		{"without", host.Sources{}, "", "https://example.com/a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := newRuntime(t, satchel.WithRunner(satchel.Runner{Executor: local, Resolve: tt.resolve}))
			t.Cleanup(func() { _ = rt.Close() })
			m := script(loading("1", "pdf"), calling(call("2", "skill_run", `{"skill":"pdf","command":"cd \"$WORK_DIR/inputs\"; ls; cat x.csv"}`)), say("done"))
			cfg := &adk.ChatModelAgentConfig{Name: "a", Description: "d", Model: m}
			install(t, cfg, rt)
			agent, err := adk.NewChatModelAgent(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			message := fileMessage("https://example.com/a", [2]string{"../../x.csv", "x,y\n"}, [2]string{"a b.csv", "1"}, [2]string{"a b.csv", "2"}, [2]string{"", "3"})
			ctx := satchel.WithSession(t.Context(), "s")
			noErrors(t, drain(t, adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Run(ctx, []adk.Message{message})))

			request := m.request(t, 2)
			answer := request[len(request)-1].Content
			var result struct {
				Staged   []workspace.StagedInput `json:"staged_inputs"`
				Stdout   string
				Warnings []string
			}
			if err := json.Unmarshal([]byte(answer), &result); err != nil {
				t.Fatalf("%v in %s", err, answer)
			}
			want := []workspace.StagedInput{
				{Name: "work/inputs/x.csv", OriginalName: "../../x.csv", MIME: "text/csv", Size: 4},
				{Name: "work/inputs/a b.csv", OriginalName: "a b.csv", MIME: "text/csv", Size: 1},
				{Name: "work/inputs/a b_2.csv", OriginalName: "a b.csv", MIME: "text/csv", Size: 1},
				{Name: "work/inputs/upload_5", MIME: "text/plain", Size: 1},
			}
			if tt.link != "" {
				want = append([]workspace.StagedInput{{Name: "work/inputs/" + tt.link, MIME: "text/plain", Size: 26}}, want...)
			}
			w, _ := json.Marshal(want)
			g, _ := json.Marshal(result.Staged)
			if string(w) != string(g) {
				t.Errorf("staged %s\nwant %s", g, w)
			}
			if !strings.HasSuffix(result.Stdout, "x,y\n") || strings.Count(result.Stdout, "\n") != len(want)+1 {
				t.Errorf("the command saw %q", result.Stdout)
			}
			if warnings := strings.Join(result.Warnings, "\n"); tt.warned == "" && warnings != "" || !strings.Contains(warnings, tt.warned) {
				t.Errorf("warnings %q, want one of %q", warnings, tt.warned)
			}
		})
	}
}
