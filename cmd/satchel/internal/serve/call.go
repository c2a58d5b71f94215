package serve

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/protocol"
)

// CallCommand calls a method of a server.
type CallCommand struct {
	URL       string `xor:"server" placeholder:"URL" help:"Where the server answers (default http://127.0.0.1:8080); /rpc is added where there is no path."`
	Unix      string `xor:"server" placeholder:"PATH" help:"Unix socket of the server."`
	Exec      string `xor:"server" placeholder:"COMMAND" help:"Start a server that answers on its standard streams, by a line for the shell."`
	TokenFile string `placeholder:"FILE" help:"File with the token for HTTP."`
	Progress  bool   `help:"Print the progress of a run on standard error."`
	List      bool   `help:"Print what the server can be called, with parameters (those in stars must be there) and scopes."`
	JSON      bool   `help:"With --list, one JSON object per line for each method."`
	Method    string `arg:"" optional:"" help:"Method, such as list_skills."`
	Params    string `arg:"" optional:"" help:"Parameters: a JSON object, @FILE, or - for standard input."`
}

// Help is the long help of the command.
func (CallCommand) Help() string {
	return `Calls a method of a skills server (satchel serve) and prints its result as JSON.
Exit code 0: it succeeded; 1: an error, which is printed on standard error, or a run
that failed; 2: wrong arguments.`
}

// Run calls the method.
func (cmd *CallCommand) Run(ctx context.Context, c cli.Console) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if cmd.List == (cmd.Method != "") {
		return fmt.Errorf("%w: give a method, or --list", cli.ErrUsage)
	}
	params, err := cmd.params(c.In)
	if err != nil {
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	if cmd.List {
		cmd.Method = "tools/list"
	}
	if cmd.Progress {
		params["progress_token"] = json.RawMessage("1")
	}
	notice := func(method string, params json.RawMessage) {
		var p struct{ Stage, Message string }
		if method == "$/progress" && json.Unmarshal(params, &p) == nil {
			fmt.Fprintln(c.Err, strings.TrimSpace(cli.Printable(p.Stage+" "+p.Message)))
		}
	}
	var result json.RawMessage
	if cmd.Unix != "" || cmd.Exec != "" {
		err = cmd.byStream(ctx, c, params, notice, &result)
	} else {
		err = cmd.byHTTP(ctx, params, notice, &result)
	}
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		return fmt.Errorf("%s: %d: %s", cmd.Method, refusal.Code, cli.Printable(refusal.Message))
	} else if err != nil {
		return err
	}
	if cmd.List {
		return printMethods(c.Out, result, cmd.JSON)
	}
	var out bytes.Buffer
	if json.Indent(&out, result, "", "  ") != nil {
		return errors.New("the server's answer is not JSON")
	}
	fmt.Fprintln(c.Out, out.String())
	var run struct {
		Status string `json:"status"`
		RunID  string `json:"run_id"`
	}
	if json.Unmarshal(result, &run) == nil && run.RunID != "" && run.Status == "failed" {
		return cli.ErrReported
	}
	return nil
}

// printMethods prints the answer of tools/list.
func printMethods(w io.Writer, result json.RawMessage, asJSON bool) error {
	if asJSON {
		var got struct{ Tools, Methods []json.RawMessage }
		if err := json.Unmarshal(result, &got); err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		for _, m := range append(got.Tools, got.Methods...) {
			if err := cli.WriteJSON(w, m); err != nil {
				return err
			}
		}
		return nil
	}
	type method struct {
		Name, Description, Scope string
		Parameters               struct {
			Properties map[string]struct{ Type string }
			Required   []string
		}
	}
	var got struct{ Tools, Methods []method }
	if err := json.Unmarshal(result, &got); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	for _, m := range append(got.Tools, got.Methods...) {
		var all []string
		for _, name := range slices.Sorted(maps.Keys(m.Parameters.Properties)) {
			if text := name + " " + m.Parameters.Properties[name].Type; slices.Contains(m.Parameters.Required, name) {
				all = append(all, "*"+text+"*")
			} else {
				all = append(all, text)
			}
		}
		fmt.Fprintln(w, cli.Printable(fmt.Sprintf("%s (%s): %s", m.Name, m.Scope, m.Description)))
		if len(all) > 0 {
			fmt.Fprintln(w, cli.Printable("    "+strings.Join(all, ", ")))
		}
	}
	return nil
}

// params reads the parameters.
func (cmd *CallCommand) params(in io.Reader) (map[string]json.RawMessage, error) {
	text := []byte(cmd.Params)
	var err error
	if name, ok := strings.CutPrefix(cmd.Params, "@"); ok {
		text, err = os.ReadFile(name)
	} else if cmd.Params == "-" {
		text, err = io.ReadAll(in)
	}
	params := map[string]json.RawMessage{}
	if err == nil && len(bytes.TrimSpace(text)) > 0 {
		if err = json.Unmarshal(text, &params); err != nil || params == nil {
			return nil, errors.New("parameters: want a JSON object, @FILE or -")
		}
	}
	return params, err
}

func (cmd *CallCommand) byStream(ctx context.Context, c cli.Console, params any, notice func(string, json.RawMessage), result any) (err error) {
	var conn io.ReadWriteCloser
	if cmd.Unix != "" {
		conn, err = (&net.Dialer{}).DialContext(ctx, "unix", cmd.Unix)
	} else {
		conn, err = startServer(ctx, cmd.Exec, c.Err)
	}
	if err != nil {
		return fmt.Errorf("reach server: %w", err)
	}
	client := protocol.NewClient(conn, notice)
	defer func() { _ = client.Close() }()
	return client.Call(ctx, cmd.Method, params, result)
}

// child is a server process that serves one call.
type child struct {
	io.Reader
	io.WriteCloser
	cmd *exec.Cmd
}

func startServer(ctx context.Context, line string, log io.Writer) (*child, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", line) //nolint:gosec // the user's own line
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &child{out, in, cmd}, cmd.Start()
}

// Close closes the input of the server, which then exits, and waits for it.
func (c *child) Close() error {
	err := c.WriteCloser.Close()
	_, _ = io.Copy(io.Discard, c.Reader)
	return errors.Join(err, c.cmd.Wait())
}

// rpcAddress adds /rpc to an address without a path. satchel serve prints such addresses.
func rpcAddress(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" && strings.Trim(u.Path, "/") == "" {
		return u.JoinPath("rpc").String()
	}
	return address
}

func (cmd *CallCommand) byHTTP(ctx context.Context, params any, notice func(string, json.RawMessage), result *json.RawMessage) error {
	address := rpcAddress(cmp.Or(cmd.URL, "http://127.0.0.1:8080"))
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": cmd.Method, "params": params})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if cmd.Progress {
		req.Header.Set("Accept", "text/event-stream")
	}
	if err := cmd.authorize(req); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("reach server: %w; satchel serve starts one, --url names another", err)
	}
	defer res.Body.Close()
	content := io.LimitReader(res.Body, maxAnswer)
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return readEvents(content, notice, result)
	}
	text, err := io.ReadAll(content)
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if !json.Valid(text) {
		return fmt.Errorf("the server answers %s: %.*s", res.Status, maxExcerpt, cli.Printable(string(text)))
	}
	return readAnswer(text, notice, result)
}

func (cmd *CallCommand) authorize(req *http.Request) error {
	if cmd.TokenFile == "" {
		return nil
	}
	text, err := os.ReadFile(cmd.TokenFile)
	if err != nil {
		return err
	}
	if len(text) > maxToken {
		return fmt.Errorf("token file %q: more than %d bytes", cmd.TokenFile, maxToken)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(text)))
	return nil
}

// readEvents reads server-sent events until the answer.
func readEvents(r io.Reader, notice func(string, json.RawMessage), result *json.RawMessage) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if done := readAnswer([]byte(data), notice, result); *result != nil || done != nil {
				return done
			}
		}
		if err != nil {
			return errors.New("the server ended the stream without an answer")
		}
	}
}

// readAnswer reads one message of the server. It sets result to that of an answer, and passes a
// notification to notice.
func readAnswer(text []byte, notice func(string, json.RawMessage), result *json.RawMessage) error {
	var got struct {
		Method         string
		Params, Result json.RawMessage
		Error          *protocol.Error
	}
	if err := json.Unmarshal(text, &got); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	switch {
	case got.Error != nil:
		return got.Error
	case got.Method != "":
		notice(got.Method, got.Params)
	default:
		*result = got.Result
	}
	return nil
}
