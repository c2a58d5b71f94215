package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/mcp"
)

// wrong are calls that no server of this protocol takes, and what it answers.
var wrong = []struct{ method, params, want string }{
	{"skills/list", `{"cursor":5}`, "cursor: want a string"},
	{"skills/list", `[1]`, "params: want an object"},
	{"skills/list", `{"cursor":"x"}`, "the cursor is not one of this server: start again without it"},
	{"skills/get", `{"uri":{}}`, "uri: want a string"},
	{"skills/get", ``, "uri is missing"},
	{"skills/get", `null`, "uri is missing"},
	{"resources/directory/read", ``, "uri is missing"},
	{"resources/directory/read", `{"uri":["x"]}`, "uri: want a string"},
	{"resources/read", `{"uri":5}`, "uri: want a string"},
	{"resources/read", `{"uri":5,"x":"` + strings.Repeat("y", 1<<17) + `"}`, "uri: want a string"},
	{"resources/list", `{"cursor":true}`, "cursor: want a string"},
	{"tools/call", `{"name":5}`, "name: want a string"},
	{"tools/list", `{"cursor":{}}`, "cursor: want a string"},
	{"tools/list", `{"_meta":5}`, "_meta: want an object"},
	{"prompts/get", `{"name":[]}`, "name: want a string"},
	{"completion/complete", `{"ref":5}`, "ref: want an object"},
	{"logging/setLevel", `{"level":5}`, "level: want a string"},
}

func message(id int, method, params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q%s}`, id, method, params)
}

// TestWrongTypes sends parameters of other types, and none at all. The error names the field and a
// type of JSON, and the server answers the next call.
func TestWrongTypes(t *testing.T) {
	from := open(t, fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: The words unmarshaling of type string.\n---\n")}})
	check := func(t *testing.T, i int, line []byte) {
		t.Helper()
		var got struct {
			ID    int
			Error struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal(line, &got); err != nil || got.ID != i || got.Error.Code != -32602 || got.Error.Message != wrong[i].want {
			t.Errorf("%s %.80s: %.400s, %v", wrong[i].method, wrong[i].params, line, err)
		}
	}
	t.Run("http", func(t *testing.T) {
		url := serve(t, from)
		for i, call := range wrong {
			check(t, i, answerTo(t, url, message(i, call.method, call.params)))
		}
		for body, want := range map[string]string{
			`{"jsonrpc":"2.0","id":true,"method":"ping"}`: "id: want a string or an integer\n",
			`{"jsonrpc":"2.0","id":1,"method"`:            "the message cannot be read: want a JSON object with jsonrpc, id, method and params\n",
			`{"jsonrpc":"2.0","id":1,"method":5}`:         "the message cannot be read: want a JSON object with jsonrpc, id, method and params\n",
		} {
			if got := answerTo(t, url, body); string(got) != want {
				t.Errorf("%s: %.300q", body, got)
			}
		}
		if got := answerTo(t, url, message(1, "skills/list", "")); !strings.Contains(string(got), "unmarshaling of type string") {
			t.Errorf("a result has changed: %.400s", got)
		}
	})
	t.Run("stdio", func(t *testing.T) {
		in, input := io.Pipe()
		output, out := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			ended <- mcp.New(from).Run(t.Context(), &sdk.IOTransport{Reader: in, Writer: out}, protocol.LocalPrincipal())
		}()
		answers := json.NewDecoder(output)
		ask := func(line string) (answer json.RawMessage) {
			if _, err := io.WriteString(input, line+"\n"); err != nil {
				t.Fatal(err)
			}
			if err := answers.Decode(&answer); err != nil {
				t.Fatal(err)
			}
			return answer
		}
		ask(message(0, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`))
		_, _ = io.WriteString(input, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
		for i, call := range wrong {
			check(t, i, ask(message(i, call.method, call.params)))
		}
		_, _ = io.WriteString(input, `{"jsonrpc":"2.0","id":true,"method":"ping"}`+"\n")
		if err := <-ended; err == nil || !strings.HasSuffix(err.Error(), "id: want a string or an integer") {
			t.Error(err)
		}
	})
}

// answerTo is the answer to one message by HTTP: JSON, the data of an event, or a text.
func answerTo(t *testing.T, url, body string) []byte {
	t.Helper()
	answer, err := post(t.Context(), url, body, "MCP-Protocol-Version", "2025-11-25", "Authorization", "Bearer ann")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode == http.StatusOK {
		_, after, _ := strings.Cut(string(text), "data: ")
		return []byte(after)
	}
	return text
}
