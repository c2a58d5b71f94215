//go:build unix

package browsertest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// names are the programs that a Chromium may have.
var names = []string{"chromium", "chromium-browser", "google-chrome"}

var (
	mu     sync.Mutex
	shared *browser
)

// Run runs the tests of a binary, ends the browser that they started, and returns the code with
// which to exit. Call it from TestMain.
func Run(m *testing.M) int {
	code := m.Run()
	if shared != nil {
		if err := shared.close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	return code
}

// browser is a running Chromium.
type browser struct {
	cmd  *exec.Cmd
	dir  string // its profile and downloads
	to   io.WriteCloser
	done chan struct{}

	mu       sync.Mutex
	sent     int
	answers  map[int]chan message
	sessions map[string]*Page
}

// message is a message of the protocol, in either direction.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// launched returns the browser of the binary. Where no Chromium is installed it skips the test, or
// fails it with SATCHEL_SERVERS=all.
func launched(t testing.TB) *browser {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	if shared != nil {
		return shared
	}
	for _, name := range names {
		if program, err := exec.LookPath(name); err == nil {
			if shared, err = launch(program); err != nil {
				t.Fatal(err)
			}
			return shared
		}
	}
	missing := "no browser is installed: pages are not tested (scripts/setup.sh installs chromium)"
	if os.Getenv("SATCHEL_SERVERS") == "all" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return nil
}

func launch(program string) (*browser, error) {
	dir, err := os.MkdirTemp("", "browser")
	if err != nil {
		return nil, err
	}
	commands, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, events, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	b := &browser{dir: dir, to: to, done: make(chan struct{}), answers: map[int]chan message{}, sessions: map[string]*Page{}}
	b.cmd = exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
		"--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb", "--user-data-dir="+dir, "--remote-debugging-pipe", "about:blank")
	b.cmd.ExtraFiles = []*os.File{commands, events} // 3 and 4
	b.cmd.Env = append(os.Environ(), "HOME="+dir)
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = b.cmd.Start()
	commands.Close()
	events.Close()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	go b.read(from)
	return b, nil
}

// close ends the browser and removes its files.
func (b *browser) close() error {
	_, err := b.call("", "Browser.close", nil)
	b.to.Close()
	_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL) // what it has left
	_ = b.cmd.Wait()
	<-b.done
	return errors.Join(err, os.RemoveAll(b.dir))
}

// read takes the messages of the browser until it ends.
func (b *browser) read(from io.Reader) {
	defer close(b.done)
	in := bufio.NewReader(from)
	for {
		text, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		answer, page := b.answers[m.ID], b.sessions[m.Session]
		if m.ID != 0 {
			delete(b.answers, m.ID)
		}
		b.mu.Unlock()
		switch {
		case m.ID != 0 && answer != nil:
			answer <- m
		case page != nil:
			page.note(m)
		}
	}
}

// patience is how long a command of the protocol may take.
const patience = time.Minute

// call sends a command to a session, "" for the browser, and returns its result.
func (b *browser) call(session, method string, params any) (json.RawMessage, error) {
	if params == nil {
		params = struct{}{}
	}
	encoded, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	answer := make(chan message, 1)
	b.mu.Lock()
	b.sent++
	m := message{ID: b.sent, Session: session, Method: method, Params: encoded}
	b.answers[m.ID] = answer
	text, err := json.Marshal(m)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		return m.Result, nil
	case <-b.done:
		return nil, fmt.Errorf("%s: the browser has ended", method)
	case <-time.After(patience):
		return nil, fmt.Errorf("%s: no answer within %s", method, patience)
	}
}
