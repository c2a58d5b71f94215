//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// seedSkills are those that the example's client wants.
const seedSkills = "../../examples/server-client/skills"

// startServe runs satchel serve with more flags and returns where it listens, and
// what stops it.
func startServe(t *testing.T, flags ...string) (address string) {
	t.Helper()
	return start(t, append([]string{"serve", "--skills", seedSkills}, flags...)...)
}

// start runs a command that listens, until the test ends.
func start(t *testing.T, args ...string) (address string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, args, cli.Console{In: strings.NewReader(""), Out: io.Discard, Err: write})
		_ = write.Close()
	}()
	lines := bufio.NewReader(read)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", first, err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, lines)
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-done; code != cli.ExitDone {
			t.Errorf("satchel %s: exit code %d", args[0], code)
		}
		<-drained
	})
	address, ok := strings.CutPrefix(strings.TrimSpace(first), "listening on ")
	if !ok {
		t.Fatalf("the first line is %q", first)
	}
	return address
}

// invoke runs a command.
func invoke(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr strings.Builder
	code = run(t.Context(), args, cli.Console{In: strings.NewReader(in), Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

// TestSeedClient runs the client program of the protocol's text.
func TestSeedClient(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Log("python3 is not installed: the client is not run")
		return
	}
	address := startServe(t, "--listen", "127.0.0.1:0", "--unsafe-local")
	out, err := exec.CommandContext(t.Context(), "python3", "../../examples/server-client/client.py", address+"/rpc").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"# Skills Protocol Overview", "Found 1 Salesforce skills", "Sync leads from a sheet blob into Salesforce.", "Created blob: blob:", "Success: Synced 2 leads.", "Custom workflow result: {'synced': 2, 'errors': []}"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in: %s", want, out)
		}
	}
}

func TestCall(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	sum := sha256.Sum256([]byte("good"))
	tokens := filepath.Join(t.TempDir(), "tokens")
	for name, text := range map[string]string{token: "good\n", tokens: "acme ann read,run,write sha256:" + hex.EncodeToString(sum[:]) + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	socket := filepath.Join(t.TempDir(), "s")
	shelf, blobs := t.TempDir(), filepath.Join(t.TempDir(), "blobs")
	url := startServe(t, "--listen", "127.0.0.1:0", "--tokens", tokens, "--unsafe-local") + "/rpc"
	startServe(t, "--unix", socket, "--shelf", shelf, "--create", "--blobs", "file://"+blobs, "--unsafe-local")
	code, out, errs := invoke(t, "", "call", "list_skills", `{"namespace": "salesforce"}`, "--url", url, "--token-file", token)
	var list struct{ Skills []struct{ Name string } }
	if code != cli.ExitDone || json.Unmarshal([]byte(out), &list) != nil || len(list.Skills) != 1 || list.Skills[0].Name != "salesforce.leads.sync" {
		t.Errorf("%d %s %s", code, out, errs)
	}
	for _, short := range []string{strings.TrimSuffix(url, "/rpc"), strings.TrimSuffix(url, "rpc")} { // the URL as satchel serve prints it
		if code, out, errs := invoke(t, "", "call", "list_skills", "--url", short, "--token-file", token); code != cli.ExitDone || !strings.Contains(out, "salesforce.leads.sync") {
			t.Errorf("%s: %d %s %s", short, code, out, errs)
		}
	}
	if code, _, errs = invoke(t, "", "call", "list_skills", "--url", url); code != cli.ExitFailed || !strings.Contains(errs, "-32001") {
		t.Errorf("without a token: %d %s", code, errs)
	}
	code, out, errs = invoke(t, `{"language": "python", "code": "import runtime\ndef main(args):\n    runtime.progress('half')\n    raise ValueError('no')\n"}`,
		"call", "run_code", "-", "--progress", "--url", url, "--token-file", token)
	if code != cli.ExitFailed || !strings.Contains(out, `"ValueError: no"`) || !strings.Contains(errs, "running half\n") {
		t.Errorf("a run that fails: %d %s %s", code, out, errs)
	}
	for _, args := range [][]string{{"--url", url, "--token-file", token}, {"--unix", socket}} {
		code, out, errs = invoke(t, "", append([]string{"call", "--list"}, args...)...)
		if code != cli.ExitDone || !strings.Contains(out, "describe_skill (read): Retrieve a skill's manifest") || !strings.Contains(out, "\n    detail string, *name string*, version string\n") ||
			!strings.Contains(out, "\ndelete_blob (write): ") || strings.Contains(out, "create_skill") != (args[0] == "--unix") {
			t.Errorf("%v: %d %s %s", args, code, out, errs)
		}
	}
	create := `{"manifest": {"name": "user.x", "version": "1.0.0", "description": "x"}, "skill_md": "x", "files": []}`
	if code, out, errs = invoke(t, "", "call", "create_skill", create, "--unix", socket); code != cli.ExitDone || !strings.Contains(out, `"user.x"`) {
		t.Errorf("by the socket: %d %s %s", code, out, errs)
	}
	if code, out, errs = invoke(t, "", "call", "create_blob", `{"content": "x", "kind": "text/plain"}`, "--unix", socket); code != cli.ExitDone || !strings.Contains(out, `"blob:`) {
		t.Errorf("by the socket: %d %s %s", code, out, errs)
	}
	for _, args := range [][]string{{"call", "m", "[]"}, {"call", "m", "@none"}, {"call"}, {"call", "--list", "list_skills"}, {"serve"}, {"serve", "--skills", seedSkills, "--create"}, {"serve", "--skills", "none"},
		{"serve", "--skills", seedSkills, "--max-runs", "0"}, {"mcp", "--skills", seedSkills, "--max-runs=-1"}, {"serve", "--skills", seedSkills, "--queue-wait", "0s"}} {
		if code, _, errs := invoke(t, "", args...); code != cli.ExitUsage {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	if code, _, errs := invoke(t, "", "serve", "--skills", seedSkills, "--listen", "0.0.0.0:0"); code != cli.ExitFailed || !strings.Contains(errs, "not loopback: set tokens and a certificate (--tokens FILE, --tls-cert FILE), or allow it (--insecure)") {
		t.Errorf("beyond this machine: %d %s", code, errs)
	}
}

// TestBlobFlags looks at how long blobs are kept, how many there may be, and at flags that
// make no sense.
func TestBlobFlags(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		flags []string
		from  time.Duration // expected lifetime, approximately; 0 means forever
	}{
		"memory":    {nil, 24 * time.Hour},
		"directory": {[]string{"--blobs", dir}, 0},
		"asked":     {[]string{"--blobs", dir, "--blob-expiry", "1h"}, time.Hour},
		"never":     {[]string{"--blob-expiry", "never"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			url := startServe(t, append([]string{"--listen", "127.0.0.1:0", "--unsafe-local", "--blob-quota", "1KiB,2", "--max-output-blobs", "1"}, c.flags...)...) + "/rpc"
			_, out, errs := invoke(t, "", "call", "create_blob", `{"content": "x", "kind": "text/plain"}`, "--url", url)
			var made struct {
				ID      string     `json:"blob_id"`
				Expires *time.Time `json:"expires_at"`
			}
			if err := json.Unmarshal([]byte(out), &made); err != nil || (made.Expires == nil) != (c.from == 0) {
				t.Fatalf("%s %s %v", out, errs, err)
			}
			if c.from != 0 {
				if left := time.Until(*made.Expires); left > c.from || left < c.from-time.Minute {
					t.Errorf("it is kept %v, want %v", left, c.from)
				}
			}
			_, out, _ = invoke(t, "", "call", "run_code", `{"language": "bash", "code": "echo a > $OUTPUT_DIR/a; echo b > $OUTPUT_DIR/b; echo 1 > $RESULT_FILE"}`, "--url", url)
			if !strings.Contains(out, "run may make is 1 (--max-output-blobs); refused: 1") || strings.Count(out, `"blob:`) != 1 {
				t.Errorf("a run of two files: %s", out)
			}
			if code, _, errs := invoke(t, "", "call", "create_blob", `{"content": "x", "kind": "text/plain"}`, "--url", url); code != cli.ExitFailed || !strings.Contains(errs, "quota exceeded: 2 blobs: delete blobs") {
				t.Errorf("a third blob: %d %s", code, errs)
			}
			for range 2 {
				var page struct {
					Blobs []struct {
						ID string `json:"blob_id"`
					}
				}
				_, out, errs = invoke(t, "", "call", "list_blobs", "--url", url)
				if err := json.Unmarshal([]byte(out), &page); err != nil || len(page.Blobs) == 0 {
					t.Fatalf("%s %s %v", out, errs, err)
				}
				if code, _, errs := invoke(t, "", "call", "delete_blob", `{"blob_id": "`+page.Blobs[0].ID+`"}`, "--url", url); code != cli.ExitDone {
					t.Error(errs)
				}
			}
			if code, _, errs := invoke(t, "", "call", "create_blob", `{"content": "`+strings.Repeat("x", 1025)+`", "kind": "text/plain"}`, "--url", url); code != cli.ExitFailed || !strings.Contains(errs, "quota exceeded: 1024 bytes") {
				t.Errorf("too much: %d %s", code, errs)
			}
		})
	}
	for _, bad := range [][]string{
		{"--blob-expiry", "1"}, {"--blob-expiry", "-1h"}, {"--blob-expiry", "1ms"}, {"--blob-quota", "x"}, {"--blob-quota", "1,0"}, {"--blob-quota", "0"},
		{"--blob-quota", "9000000000GiB"}, {"--blob-quota", "1GB"}, {"--max-output-blobs", "0"}, {"--mcp", "bad"},
	} {
		if code, _, errs := invoke(t, "", append([]string{"serve", "--skills", seedSkills}, bad...)...); code != cli.ExitUsage || !strings.Contains(errs, bad[0]) || strings.Count(errs, "cannot start") != 1 {
			t.Errorf("%v: %d %s", bad, code, errs)
		}
	}
}

// Places of blobs that cannot be are refused at the start.
func TestServeBlobsPlaces(t *testing.T) {
	for _, bad := range []string{"ftp://x", "file://host/x", "s3://"} {
		if code, _, errs := invoke(t, "", "serve", "--skills", seedSkills, "--blobs", bad); code != cli.ExitUsage || !strings.Contains(errs, "--blobs") {
			t.Errorf("%s: %d %s", bad, code, errs)
		}
	}
}

func TestServeStdio(t *testing.T) {
	code, out, errs := invoke(t, `{"id":"1","method":"list_skills"}`+"\n", "serve", "--skills", seedSkills, "--stdio")
	if code != cli.ExitDone || !strings.Contains(out, `"id":"1"`) || !strings.HasPrefix(errs, "listening on standard input\n") {
		t.Errorf("%d %s %s", code, out, errs)
	}
}

// TestEndOfInput has processes answer what came before the end of their input. These are
// calls that are done at once, runs, and calls of a socket's peer that stopped writing.
func TestEndOfInput(t *testing.T) {
	call := func(id, code string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"run_code","params":{"language":"bash","code":"` + code + `"}}` + "\n"
	}
	frame := func(text string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text) }
	run := call("1", "cat $ARGS_FILE > $RESULT_FILE")
	const list = `{"jsonrpc":"2.0","id":2,"method":"list_skills"}`
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n"
	serve := []string{"serve", "--skills", seedSkills, "--stdio", "--unsafe-local"}
	for name, test := range map[string]struct {
		args []string
		in   string
		want []string
	}{
		"a run and a call": {serve, run + list + "\n", []string{`"id":1,"result":{"status":"completed"`, `"id":2,"result"`}},
		"no last line end": {serve, run + list, []string{`"id":1,"result":{"status":"completed"`, `"id":2,"result"`}},
		"half a line":      {serve, run + list[:20], []string{`"id":1,"result":{"status":"completed"`, `"code":-32700`}},
		"frames":           {serve, frame(run) + frame(list), []string{`"id":1,"result":{"status":"completed"`, `"id":2,"result"`}},
		"half a frame":     {serve, frame(run) + frame(list)[:40], []string{`"id":1,"result":{"status":"completed"`, `after 18 of 47 bytes`}},
		"half of headers":  {serve, frame(run) + "Content-Le", []string{`"id":1,"result":{"status":"completed"`, `the input ends in the middle of it, in its headers`}},
		"a failed run":     {serve, call("1", "exit 3"), []string{`"id":1,"result":{"status":"failed"`}},
		"mcp, a run":       {[]string{"mcp", "--skills", seedSkills, "--unsafe-local"}, hello + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"bash","code":"echo 42 > $RESULT_FILE"}}}`, []string{`"output":42`}},
		"mcp, half a line": {[]string{"mcp", "--skills", seedSkills, "--unsafe-local"}, hello + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n" + `{"jsonrpc":`, []string{`"execute_skill"`}},
		"nothing":          {serve, "", nil},
		"nothing over mcp": {[]string{"mcp", "--skills", seedSkills, "--unsafe-local"}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := process(t, nil, test.in, test.args...)
			for _, want := range test.want {
				if !strings.Contains(got.out, want) {
					t.Errorf("no %s in %s", want, got.out)
				}
			}
			if got.code != cli.ExitDone {
				t.Errorf("exit code %d: %s", got.code, got.err)
			}
		})
	}
	socket := filepath.Join(t.TempDir(), "s")
	startServe(t, "--unix", socket, "--unsafe-local")
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, run); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(conn); err != nil || !strings.Contains(string(answer), `"id":1,"result":{"status":"completed"`) {
		t.Errorf("a half-closed socket: %s, %v", answer, err)
	}
}

// TestMCP connects a client of the SDK to satchel mcp and runs code.
func TestMCP(t *testing.T) {
	toRead, toWrite := io.Pipe()
	fromRead, fromWrite := io.Pipe()
	done := make(chan int, 1)
	var log strings.Builder
	go func() {
		done <- run(t.Context(), []string{"mcp", "--skills", seedSkills, "--unsafe-local"}, cli.Console{In: toRead, Out: fromWrite, Err: &log})
		_ = fromWrite.Close()
	}()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromRead, Writer: toWrite}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code", Arguments: map[string]any{"language": "bash", "code": "echo 42 > \"$RESULT_FILE\""}})
	if err != nil || got.IsError {
		t.Errorf("%+v, %v", got, err)
	}
	if text, _ := json.Marshal(got); !strings.Contains(string(text), `"output":42`) {
		t.Errorf("Marshal: got %s, want it to contain %q", text, `"output":42`)
	}
	_ = session.Close()
	_ = toWrite.Close()
	if code := <-done; code != cli.ExitDone {
		t.Errorf("exit code %d: %s", code, log.String())
	}
}

// token sends a token with each request.
type token string

func (k token) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// TestMCPByHTTP runs code by MCP over HTTP, with a token and without. The first line
// says where it listens, although there is something to say of a skill before.
func TestMCPByHTTP(t *testing.T) {
	sum := sha256.Sum256([]byte("good"))
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("acme ann read,run,write sha256:"+hex.EncodeToString(sum[:])+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := start(t, "mcp", "--skills", seedSkills, "--listen", "127.0.0.1:0", "--tokens", tokens, "--unsafe-local")
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	if _, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: address}, nil); err == nil {
		t.Error("there is no need of a token")
	}
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: token("good")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_code", Arguments: map[string]any{"language": "bash", "code": "echo 42 > \"$RESULT_FILE\""}})
	if text, _ := json.Marshal(got); err != nil || !strings.Contains(string(text), `"output":42`) {
		t.Errorf("Marshal: got %s, error %v, want it to contain %q", text, err, `"output":42`)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if code, out, errs := invoke(t, "", "call", "list_skills", "--url", strings.TrimSuffix(address, "/mcp")+"/rpc"); code != cli.ExitFailed || !strings.Contains(errs, "-32001") {
		t.Errorf("beside it: %d %s %s", code, out, errs)
	}
	if code, _, errs := invoke(t, "", "mcp", "--skills", seedSkills, "--listen", "0.0.0.0:0"); code != cli.ExitFailed || !strings.Contains(errs, "not loopback") {
		t.Errorf("beyond this machine: %d %s", code, errs)
	}
}
