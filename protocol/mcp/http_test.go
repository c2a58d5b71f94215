package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/internal/protocoltest"
	"github.com/satchel-go/satchel/protocol/mcp"
)

// patience is how long anything may take on a busy machine.
const patience = 2 * time.Minute

// tenants are known by their tokens.
type tenants struct{}

func (tenants) Authenticate(r *http.Request) (protocol.Principal, error) {
	tenant, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer of ")
	if !ok {
		return protocol.Principal{}, protocol.ErrUnauthenticated
	}
	return protocol.Principal{Tenant: tenant, Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeRun, protocol.ScopeWrite}}, nil
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer of "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func serve(t *testing.T, from *protocol.Server) string {
	t.Helper()
	handler, err := mcp.New(from).Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func dial(t *testing.T, url, tenant string) *sdk.ClientSession {
	t.Helper()
	session, err := newClient(t).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(tenant)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// TestHTTP asks by HTTP, as two tenants.
func TestHTTP(t *testing.T) {
	url := serve(t, open(t, nestedTree(), protocol.WithAuth(tenants{}.Authenticate)))
	ann, bob := dial(t, url, "ann"), dial(t, url, "bob")
	if v := ann.InitializeResult().ProtocolVersion; v != "2026-07-28" {
		t.Errorf("protocol %s", v)
	}
	list, err := sdk.CallCustomMethod[*mcp.ListParams, *mcp.ListResult](t.Context(), ann, "skills/list", &mcp.ListParams{})
	if err != nil || len(list.Skills) != 3 {
		t.Fatalf("got %+v, error %v, want 3 entries", list, err)
	}
	for _, k := range list.Skills {
		for _, r := range k.Resources[:1] {
			verify(t, ann, r)
		}
	}
	made, err := ann.CallTool(t.Context(), &sdk.CallToolParams{Name: "create_blob", Arguments: map[string]any{"content": "x", "kind": "text/plain"}})
	if err != nil || made.IsError {
		t.Fatalf("%+v, %v", made, err)
	}
	blob, _ := made.StructuredContent.(map[string]any)
	for _, c := range []struct {
		session *sdk.ClientSession
		isError bool
	}{{ann, false}, {bob, true}} {
		got, err := c.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_blob", Arguments: map[string]any{"blob_id": blob["blob_id"]}})
		if err != nil || got.IsError != c.isError {
			t.Errorf("%+v, %v, want an error: %v", got, err, c.isError)
		}
	}
}

func post(ctx context.Context, url, body string, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	return http.DefaultClient.Do(req)
}

// TestDoor tries what is refused before anything is answered.
func TestDoor(t *testing.T) {
	url := serve(t, open(t, nestedTree(), protocol.WithAuth(tenants{}.Authenticate), protocol.WithAllowOrigins("https://app.test")))
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	good := []string{"Authorization", "Bearer of ann"}
	for name, c := range map[string]struct {
		body    string
		headers []string
		status  int
		want    string
	}{
		"call":           {list, good, 200, `"run_code"`},
		"our origin":     {list, append([]string{"Origin", "https://app.test"}, good...), 200, `"run_code"`},
		"no token":       {list, nil, 401, "no valid token"},
		"foreign origin": {list, append([]string{"Origin", "https://evil.test"}, good...), 403, "origin"},
		"foreign host":   {list, append([]string{"Host", "evil.test"}, good...), 403, "host"},
		"no JSON":        {list, append([]string{"Content-Type", "text/plain"}, good...), 415, "application/json"},
		"another's name": {list, append([]string{"Satchel-Request", "1"}, good...), 200, `"run_code"`},
		"a batch":        {"[" + strings.Repeat(list+",", 32) + list + "]", good, 400, "at most 32"},
		"too long":       {strings.Repeat(" ", 16<<20+1), good, 413, "16777216"},
	} {
		res, err := post(t.Context(), url, c.body, c.headers...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != c.status || !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %d %.300s, %v", name, res.StatusCode, text, err)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusMethodNotAllowed {
		t.Fatalf("GET: %v, %v", res, err)
	}
	_ = res.Body.Close()
}

// refusal is an executor that tells when a program has started.
type refusal struct {
	executor.Executor
	began chan<- struct{}
}

func (e refusal) Start(ctx context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	p, err := e.Executor.Start(ctx, cmd, term)
	e.began <- struct{}{}
	return p, err
}

// TestSuite runs the suite of endpoints over MCP, by a stream and by HTTP.
func TestSuite(t *testing.T) {
	by, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	places, err := workspace.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = places.Close() })
	source, err := source.Open(t.Context(), source.FS("test", protocoltest.Skills()), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	from, err := protocol.Open(t.Context(), protocol.WithSkills(source), protocol.WithExecutor(by), protocol.WithWorkspaces(places), protocol.WithUnsafeLocal())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = from.Close(context.Background()) })
	endpoint := func(session *sdk.ClientSession) protocoltest.Endpoint {
		return func(ctx context.Context, method string, params any) (json.RawMessage, error) {
			if params == nil {
				params = map[string]any{}
			}
			got, err := session.CallTool(ctx, &sdk.CallToolParams{Name: method, Arguments: params})
			if err != nil {
				return nil, err
			}
			if got.StructuredContent == nil {
				text, _ := got.Content[0].(*sdk.TextContent)
				return nil, errors.New(text.Text)
			}
			return json.Marshal(got.StructuredContent)
		}
	}
	t.Run("stream", func(t *testing.T) {
		protocoltest.Run(t, func(t *testing.T) protocoltest.Endpoint { return endpoint(connectTo(t, mcp.New(from))) })
	})
	t.Run("http", func(t *testing.T) {
		url := serve(t, from)
		protocoltest.Run(t, func(t *testing.T) protocoltest.Endpoint { return endpoint(dial(t, url, "ann")) })
	})
}

// TestClosing closes a request whose run has begun. The run must end. The client cannot choose the
// header that identifies the request.
func TestClosing(t *testing.T) {
	by, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	places, err := workspace.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = places.Close() })
	began, ended := make(chan struct{}, 2), make(chan protocol.Record, 2)
	url := serve(t, open(t, nestedTree(), protocol.WithExecutor(refusal{by, began}), protocol.WithWorkspaces(places), protocol.WithUnsafeLocal(),
		protocol.WithObserver(func(_ context.Context, r protocol.Record) { ended <- r })))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": "run_code", "arguments": map[string]any{"language": "bash", "code": "sleep 600"}}})
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan error, 1)
	go func() {
		res, err := post(ctx, url, string(body), "Satchel-Request", "77")
		if err == nil {
			_, err = io.ReadAll(res.Body)
			_ = res.Body.Close()
		}
		left <- err
	}()
	select {
	case <-began:
	case r := <-ended:
		t.Fatalf("the run has ended before it began: %+v", r)
	}
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	select {
	case r := <-ended:
		if r.Method != "run_code" || r.Code != -32800 {
			t.Errorf("%+v", r)
		}
	case <-time.After(patience):
		t.Error("the run goes on without its request")
	}
}

// TestProgress checks that the stages of a run come in order and before the answer, over a stream and
// over HTTP.
func TestProgress(t *testing.T) {
	by, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	places, err := workspace.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = places.Close() })
	from := open(t, nestedTree(), protocol.WithExecutor(by), protocol.WithWorkspaces(places), protocol.WithUnsafeLocal(), protocol.WithAuth(tenants{}.Authenticate))
	refusal := make(chan string, 100)
	opts := &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
		refusal <- fmt.Sprint(req.Params.ProgressToken, " ", req.Params.Progress, " ", req.Params.Message)
	}}
	ours, theirs := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mcp.New(from).Run(ctx, theirs, protocol.LocalPrincipal()) }()
	defer func() {
		cancel()
		<-done
	}()
	for name, transport := range map[string]sdk.Transport{
		"stream": ours, "http": &sdk.StreamableClientTransport{Endpoint: serve(t, from), HTTPClient: &http.Client{Transport: bearer("ann")}},
	} {
		session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, opts).Connect(t.Context(), transport, nil)
		if err != nil {
			t.Fatal(err)
		}
		params := &sdk.CallToolParams{Name: "run_code", Arguments: map[string]any{"language": "bash", "code": "echo 1 > \"$RESULT_FILE\""}}
		params.SetProgressToken("mine")
		if got, err := session.CallTool(t.Context(), params); err != nil || got.IsError {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		for _, want := range []string{"mine 1 staging", "mine 2 running", "mine 3 collecting"} {
			select {
			case got := <-refusal:
				if got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			case <-time.After(patience):
				t.Fatalf("%s: nothing is told, want %q", name, want)
			}
		}
		params = &sdk.CallToolParams{Name: "list_skills", Arguments: map[string]any{"limit": 1}}
		params.SetProgressToken("mine")
		if got, err := session.CallTool(t.Context(), params); err != nil || strings.Contains(fmt.Sprint(got.StructuredContent), "warnings") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		_ = session.Close()
	}
}
