//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// freshSkill writes a skill that can be executed.
func freshSkill(t *testing.T, dir, name, version, answer string) {
	t.Helper()
	for file, text := range map[string]string{
		"SKILL.md":   "---\nname: " + name + "\ndescription: x\n---\n\n" + answer + "\n",
		"skill.toml": fmt.Sprintf("name = %q\nversion = %q\ndescription = \"x\"\n[runtime]\nlanguage = \"python\"\nentrypoint = \"main.py\"\n", name, version),
		"main.py":    "def main(args):\n    return " + fmt.Sprintf("%q", answer) + "\n",
	} {
		file = filepath.Join(dir, name, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// listening runs the program in a process of its own until the test ends. It returns the
// process, what it has written on standard error so far and a pipe to its input.
func listening(t *testing.T, args ...string) (cmd *exec.Cmd, first string, in io.Writer, out *bufio.Reader) {
	t.Helper()
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	t.Cleanup(func() {
		_ = input.Close()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, lines)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	})
	if args[0] == "serve" {
		if first, err = lines.ReadString('\n'); err != nil {
			t.Fatal(first, err)
		}
		first = strings.TrimPrefix(strings.TrimSpace(first), "listening on ")
	}
	return cmd, first, input, bufio.NewReader(stdout)
}

// TestServeIsFresh changes a served directory: what callers list, read and execute is what
// it holds now.
func TestServeIsFresh(t *testing.T) {
	dir := t.TempDir()
	freshSkill(t, dir, "one", "1.0.0", "first")
	_, address, _, _ := listening(t, "serve", "--skills", dir, "--listen", "127.0.0.1:0", "--unsafe-local")
	call := func(method, params, want string) {
		t.Helper()
		_, out, errs := invoke(t, "", "call", method, params, "--url", address+"/rpc")
		if !strings.Contains(out+errs, want) {
			t.Errorf("%s %s: %s%s, want %s", method, params, out, errs, want)
		}
	}
	call("execute_skill", `{"name": "one"}`, `"first"`)
	for i := range 3 { // the server notices each edit without a restart
		answer := fmt.Sprint("edit", i)
		freshSkill(t, dir, "one", "1.0.0", answer)
		call("read_skill_file", `{"name": "one", "path": "main.py"}`, answer)
		freshSkill(t, dir, "one", "1.0.0", answer+"b")
		call("execute_skill", `{"name": "one", "version": "1.0.0"}`, answer+"b")
		freshSkill(t, dir, "one", "1.0.0", answer+"c")
		call("describe_skill", `{"name": "one", "detail": "full"}`, answer+"c")
		freshSkill(t, dir, "one", "1.0.0", answer+"d")
		call("run_code", `{"language": "python", "mount_skills": ["one"], "code": "from skills.one import main"}`, answer+"d")
	}
	freshSkill(t, dir, "one", "2.0.0", "second")
	call("execute_skill", `{"name": "one", "version": "1.0.0"}`, `there is 2.0.0`)
	freshSkill(t, dir, "two", "1.0.0", "new")
	call("list_skills", `{}`, `"two"`)
	freshSkill(t, dir, "three", "1.0.0", "new")
	call("execute_skill", `{"name": "three"}`, `"new"`)
	if err := os.RemoveAll(filepath.Join(dir, "two")); err != nil {
		t.Fatal(err)
	}
	call("execute_skill", `{"name": "two"}`, `unknown skill`)
}

// TestServersShareAShelf has two servers on one directory of created skills.
func TestServersShareAShelf(t *testing.T) {
	shelf := t.TempDir()
	var urls []string
	for range 2 {
		_, address, _, _ := listening(t, "serve", "--skills", seedSkills, "--shelf", shelf, "--create", "--listen", "127.0.0.1:0", "--unsafe-local")
		urls = append(urls, address+"/rpc")
	}
	create := `{"manifest": {"name": "user.x", "version": "1.0.0", "description": "x"}, "skill_md": %q, "files": []}`
	for _, c := range []struct {
		url               int
		text, method, out string
	}{
		{0, "a", "create_skill", `"user.x"`}, {1, "", "describe_skill", `"user.x"`}, {1, "a", "create_skill", `"user.x"`}, {1, "b", "create_skill", "-32008"},
	} {
		params := `{"name": "user.x"}`
		if c.text != "" {
			params = fmt.Sprintf(create, c.text)
		}
		if _, out, errs := invoke(t, "", "call", c.method, params, "--url", urls[c.url]); !strings.Contains(out+errs, c.out) {
			t.Errorf("%s %q at server %d: %s%s, want %s", c.method, c.text, c.url, out, errs, c.out)
		}
	}
}

// TestHangup sends SIGHUP in each mode, and the server goes on.
func TestHangup(t *testing.T) {
	dir := t.TempDir()
	freshSkill(t, dir, "one", "1.0.0", "first")
	socket := filepath.Join(t.TempDir(), "s")
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0"}, {"serve", "--unix", socket}, {"serve", "--stdio"}, {"mcp"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			p, address, in, out := listening(t, append(args, "--skills", dir, "--unsafe-local")...)
			hang := func() {
				for range 5 {
					if err := p.Process.Signal(syscall.SIGHUP); err != nil {
						t.Fatal(err)
					}
				}
			}
			if args[0] == "mcp" { // an MCP client can connect as soon as the server answers
				session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: io.NopCloser(out), Writer: writeOnly{in}}, nil)
				if err != nil {
					t.Fatal(err)
				}
				hang()
				freshSkill(t, dir, "late", "1.0.0", "x")
				var text []byte
				for deadline := time.Now().Add(time.Minute); !strings.Contains(string(text), "late"); {
					got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_skills"})
					if err != nil || time.Now().After(deadline) {
						t.Fatalf("%s, %v", text, err)
					}
					text, _ = json.Marshal(got)
				}
				return
			}
			hang()
			var flags []string
			switch args[1] {
			case "--listen":
				flags = []string{"--url", address + "/rpc"}
			case "--unix":
				flags = []string{"--unix", socket}
			default:
				_, _ = io.WriteString(in, `{"id":"1","method":"list_skills"}`+"\n")
				line, err := out.ReadString('\n')
				if err != nil || !strings.Contains(line, `"one"`) {
					t.Errorf("ReadString: got %s, error %v, want it to contain %q", line, err, `"one"`)
				}
				return
			}
			if code, out, errs := invoke(t, "", append([]string{"call", "list_skills"}, flags...)...); code != cli.ExitDone || !strings.Contains(out, `"one"`) {
				t.Errorf("%d %s %s", code, out, errs)
			}
		})
	}
}

// writeOnly is a pipe that stays open.
type writeOnly struct{ io.Writer }

// Close implements io.Closer.
func (writeOnly) Close() error { return nil }
