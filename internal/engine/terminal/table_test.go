package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
)

// scriptedExecutor is an executor of scripted processes.
type scriptedExecutor struct {
	executor.Executor
	script func(p *player)
	fails  error

	mu      sync.Mutex
	players []*player
}

func (s *scriptedExecutor) Start(_ context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	if s.fails != nil {
		return nil, s.fails
	}
	read, write := io.Pipe()
	p := &player{cmd: cmd, out: term.Output, in: read, feed: write, killed: make(chan struct{}), done: make(chan struct{})}
	s.mu.Lock()
	s.players = append(s.players, p)
	s.mu.Unlock()
	go func() {
		defer close(p.done)
		defer read.Close()
		s.script(p)
	}()
	return p, nil
}

// running is how many processes have not ended.
func (s *scriptedExecutor) running() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.players {
		if !isClosed(p.done) {
			n++
		}
	}
	return n
}

type player struct {
	cmd    executor.Command
	out    io.Writer
	in     *io.PipeReader
	feed   *io.PipeWriter
	once   sync.Once
	killed chan struct{}
	done   chan struct{}
}

func (p *player) Write(b []byte) (int, error) {
	n, err := p.feed.Write(b)
	if err != nil {
		err = io.ErrClosedPipe
	}
	return n, err
}
func (p *player) CloseInput() error           { return p.feed.Close() }
func (p *player) Resize(uint16, uint16) error { return errors.ErrUnsupported }
func (p *player) Kill() {
	if !isClosed(p.done) {
		p.once.Do(func() { close(p.killed) })
	}
}
func (p *player) Done() <-chan struct{} { return p.done }
func (p *player) Wait(context.Context) (executor.Result, error) {
	<-p.done
	if isClosed(p.killed) {
		return executor.Result{Reason: executor.ReasonCancelled, ExitCode: 143}, nil
	}
	return executor.Result{Reason: executor.ReasonExit}, nil
}

// sleepUntilKilled lives until it is killed; cat ends with its input too.
func sleepUntilKilled(p *player) { <-p.killed }

func cat(p *player) {
	go func() {
		select {
		case <-p.killed:
		case <-p.done:
		}
		p.in.Close()
	}()
	io.Copy(p.out, p.in)
}

func says(text string) func(*player) { return func(p *player) { io.WriteString(p.out, text) } }

var ada = core.SessionKey{Session: "talk", Agent: "ada"}

func newTable(t *testing.T, limits Limits) *Table {
	t.Helper()
	table := New(limits)
	t.Cleanup(table.Close)
	return table
}

// open starts a process that says how it ended.
func open(t *testing.T, table *Table, owner core.SessionKey, exec executor.Executor) *Session {
	t.Helper()
	s, err := table.Open(owner, 0)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Start(t.Context(), exec, Process{Finish: func(ctx context.Context, r executor.Result, err error) []byte {
		return fmt.Appendf(nil, "%s %v %v", r.Reason, err, ctx.Err())
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func next(t *testing.T, s *Session, wait time.Duration) Page {
	t.Helper()
	p, err := s.Next(t.Context(), Request{Offset: onward, Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within time: %s", what)
		}
	}
}

func TestSessionFromStartToEnd(t *testing.T) { synctest.Test(t, fromStartToEnd) }

func fromStartToEnd(t *testing.T) {
	table := newTable(t, Limits{})
	s := open(t, table, ada, &scriptedExecutor{script: cat})
	if s.ID() != "s1" {
		t.Errorf("id %q", s.ID())
	}
	for _, text := range []string{"", "hello\n"} {
		if err := s.Write([]byte(text), false); err != nil {
			t.Fatal(err)
		}
	}
	if p := next(t, s, 200*time.Millisecond); p.Text != "hello\n" || p.IsLast {
		t.Errorf("page %+v", p)
	}
	if err := s.Write([]byte("bye\n"), true); err != nil {
		t.Fatal(err)
	}
	if p := next(t, s, time.Hour); p.Text != "bye\n" || !p.IsLast || string(p.Final) != "exit <nil> <nil>" {
		t.Errorf("page %+v", p)
	}
	if err := s.Write([]byte("more"), false); !errors.Is(err, ErrEnded) {
		t.Errorf("input after the end: %v", err)
	}
	same, err := table.Session(ada, "s1", 0)
	if err != nil || same != s {
		t.Errorf("%v, %v", same, err)
	}
	s.Forget()
	if _, err := table.Session(ada, strings.Repeat("é", 50_000), 0); !errors.Is(err, ErrUnknown) || len(err.Error()) > 200 {
		t.Errorf("a long id is answered with %d bytes: %.200v", len(err.Error()), err)
	}
	if _, err := table.Session(ada, "s1", 0); !errors.Is(err, ErrUnknown) {
		t.Errorf("forgotten: %v", err)
	}
}

func TestOwners(t *testing.T) {
	table := newTable(t, Limits{})
	exec := &scriptedExecutor{script: sleepUntilKilled}
	var owners []core.SessionKey
	for _, session := range []string{"one", "two"} {
		for _, agent := range []string{"a", "b"} {
			owners = append(owners, core.SessionKey{Session: session, Agent: agent})
		}
	}
	first := map[core.SessionKey]*Session{}
	for _, o := range owners {
		if first[o] = open(t, table, o, exec); first[o].ID() != "s1" {
			t.Errorf("the first session of %v is %s", o, first[o].ID())
		}
	}
	if s := open(t, table, owners[0], exec); s.ID() != "s2" {
		t.Errorf("the second one is %s", s.ID())
	}
	for _, o := range owners {
		if s, err := table.Session(o, "s1", 0); err != nil || s != first[o] {
			t.Errorf("s1 of %v: %v, %v", o, s, err)
		}
	}
	for _, o := range owners[1:] {
		if s, err := table.Session(o, "s2", 0); !errors.Is(err, ErrUnknown) || strings.Count(err.Error(), "s2") != 1 {
			t.Errorf("%v has a session of %v: %v, %v", o, owners[0], s, err)
		}
	}
	table.End(func(o core.SessionKey) bool { return o == owners[0] })
	if got := exec.running(); got != 3 {
		t.Errorf("%d processes run after one of four owners has ended", got)
	}
	table.EndSession("two")
	if got := exec.running(); got != 1 {
		t.Errorf("%d processes run after a session has ended", got)
	}
	if s := open(t, table, owners[0], exec); s.ID() != "s3" {
		t.Errorf("no id is given twice in a conversation: %s", s.ID())
	}
	if s := open(t, table, owners[2], exec); s.ID() != "s1" {
		t.Errorf("the first session of a new conversation is %s", s.ID())
	}
}

func TestLimits(t *testing.T) {
	table := newTable(t, Limits{Sessions: 2, Total: 3})
	exec := &scriptedExecutor{script: sleepUntilKilled}
	s := open(t, table, ada, exec)
	open(t, table, ada, exec)
	if _, err := table.Open(ada, 0); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "s1, s2") {
		t.Errorf("a third one: %v", err)
	}
	open(t, table, core.SessionKey{Session: "other"}, exec)
	if _, err := table.Open(core.SessionKey{Session: "more"}, 0); !errors.Is(err, ErrFull) || strings.Contains(err.Error(), "s1") {
		t.Errorf("a fourth one: %v", err)
	}
	if _, err := s.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	opened, err := table.Open(ada, 0)
	if err != nil || opened.ID() != "s3" {
		t.Fatalf("in place of one that has ended: %v, %v", opened, err)
	}
	opened.Abandon()
	exec.fails = errors.ErrUnsupported
	if opened, err = table.Open(ada, 0); err != nil {
		t.Fatal(err)
	}
	if err := opened.Start(t.Context(), exec, Process{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("start: %v", err)
	}
	exec.fails = nil
	if got := open(t, table, ada, exec); got.ID() != "s3" {
		t.Errorf("ids have no gaps that nobody was told of: %s", got.ID())
	}
	for _, p := range exec.players {
		if p.cmd.Limits.Timeout != DefaultTimeout {
			t.Errorf("timeout %v", p.cmd.Limits.Timeout)
		}
	}
}

// What has ended can be asked for, as many sessions of it as may run.
func TestEndedSessionsAreForgotten(t *testing.T) {
	table := newTable(t, Limits{Sessions: 3})
	exec := &scriptedExecutor{script: says("text")}
	for range 10 {
		s := open(t, table, ada, exec)
		eventually(t, "the end", s.HasFinished)
	}
	open(t, table, ada, &scriptedExecutor{script: sleepUntilKilled})
	eventually(t, "forgotten", func() bool {
		table.mu.Lock()
		defer table.mu.Unlock()
		return len(table.all) <= 4
	})
	s, err := table.Session(ada, "s10", 0)
	if err != nil {
		t.Fatal(err)
	}
	if p := next(t, s, 0); p.Text != "text" || !p.IsLast {
		t.Errorf("page %+v", p)
	}
}

func TestIdle(t *testing.T) { synctest.Test(t, idle) }

func idle(t *testing.T) {
	table := newTable(t, Limits{Idle: 100 * time.Millisecond})
	exec := &scriptedExecutor{script: sleepUntilKilled}
	s := open(t, table, ada, exec)
	for range 10 {
		next(t, s, 20*time.Millisecond)
	}
	if s.HasFinished() {
		t.Error("it was killed while somebody asked for it")
	}
	eventually(t, "killed", s.HasFinished)
	if !s.WasIdleKilled() || exec.running() != 0 {
		t.Errorf("idled %v, %d processes run", s.WasIdleKilled(), exec.running())
	}
	if p := next(t, s, 0); !p.IsLast || string(p.Final) != "cancelled <nil> <nil>" {
		t.Errorf("page %+v", p)
	}
	eventually(t, "forgotten", func() bool { return isClosed(s.removed) })
	if _, err := table.Session(ada, "s1", 0); !errors.Is(err, ErrUnknown) {
		t.Errorf("it is still known: %v", err)
	}
}

func TestKill(t *testing.T) { synctest.Test(t, kill) }

func kill(t *testing.T) {
	table := newTable(t, Limits{})
	s := open(t, table, ada, &scriptedExecutor{script: func(p *player) { io.WriteString(p.out, "last words"); <-p.killed }})
	if killed, err := s.Kill(t.Context()); err != nil || !killed || !s.HasFinished() {
		t.Fatal(killed, err)
	}
	if p := next(t, s, 0); p.Text != "last words" || !p.IsLast {
		t.Errorf("page %+v", p)
	}
	stuck := open(t, table, ada, &scriptedExecutor{script: func(p *player) { <-p.killed; time.Sleep(50 * time.Millisecond) }})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := stuck.Kill(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("kill: %v", err)
	}
}

// Who has read of the end finds the session ended in all other ways too.
func TestEndIsOne(t *testing.T) {
	table := newTable(t, Limits{Sessions: 1})
	exec := &scriptedExecutor{script: func(*player) {}}
	for i := range 2000 {
		s := open(t, table, ada, exec)
		for p := next(t, s, time.Minute); !p.IsLast; p = next(t, s, time.Minute) {
		}
		if killed, err := s.Kill(t.Context()); killed || err != nil || !s.HasFinished() {
			t.Fatalf("session %d: killed %v, finished %v, %v", i, killed, s.HasFinished(), err)
		}
	}
}

// A process that does not read blocks no writer.
func TestInputWaits(t *testing.T) {
	table := newTable(t, Limits{})
	s := open(t, table, ada, &scriptedExecutor{script: sleepUntilKilled})
	if err := s.Write(make([]byte, maxInput), false); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the queue is taken", func() bool { return s.Write(make([]byte, maxInput), false) == nil })
	if err := s.Write([]byte("x"), false); !errors.Is(err, ErrInput) {
		t.Errorf("too much: %v", err)
	}
	if _, err := s.Kill(t.Context()); err != nil {
		t.Error(err)
	}
}

// Close ends running sessions, ended ones and those about to start.
func TestClose(t *testing.T) {
	table := New(Limits{})
	exec := &scriptedExecutor{script: sleepUntilKilled}
	open(t, table, ada, exec)
	s := open(t, table, ada, &scriptedExecutor{script: says("x")})
	eventually(t, "the end", s.HasFinished)
	opened, err := table.Open(ada, 0)
	if err != nil {
		t.Fatal(err)
	}
	closing := make(chan struct{})
	go func() { defer close(closing); table.Close() }()
	eventually(t, "no session any more", func() bool { return opened.ctx.Err() != nil })
	if isClosed(closing) {
		t.Error("Close has not waited for the session that is about to start")
	}
	if err := opened.Start(t.Context(), exec, Process{}); !errors.Is(err, ErrClosed) {
		t.Errorf("start: %v", err)
	}
	<-closing
	if _, err := table.Open(ada, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("open: %v", err)
	}
	if exec.running() != 0 || len(table.all) != 0 {
		t.Errorf("%d processes and %d sessions are left", exec.running(), len(table.all))
	}
	table.Close()
}

// The context of Finish ends when its answer is not wanted.
func TestEndIsTold(t *testing.T) {
	table := newTable(t, Limits{})
	s, err := table.Open(ada, 0)
	if err != nil {
		t.Fatal(err)
	}
	var told error
	type key struct{}
	err = s.Start(context.WithValue(t.Context(), key{}, "value"), &scriptedExecutor{script: sleepUntilKilled}, Process{Finish: func(ctx context.Context, _ executor.Result, _ error) []byte {
		if told = ctx.Err(); ctx.Value(key{}) != "value" {
			t.Error("the values of the start are lost")
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	table.EndSession(ada.Session)
	if !errors.Is(told, context.Canceled) {
		t.Errorf("finish was told %v", told)
	}
}

func TestManyAtOnce(t *testing.T) {
	table := newTable(t, Limits{Sessions: 100, Total: 1000})
	exec := &scriptedExecutor{script: cat}
	var all sync.WaitGroup
	for i := range 10 {
		owner := core.SessionKey{Session: fmt.Sprint(i % 5), Agent: fmt.Sprint(i)}
		for range 5 {
			all.Go(func() {
				s := open(t, table, owner, exec)
				var got strings.Builder
				for j := range 20 {
					line := fmt.Sprintf("%s of %v, line %d\n", s.ID(), owner, j)
					if err := s.Write([]byte(line), j == 19); err != nil {
						t.Error(err)
					}
					p := next(t, s, 0)
					got.WriteString(p.Text)
				}
				for {
					p := next(t, s, time.Second)
					if got.WriteString(p.Text); p.IsLast {
						break
					}
				}
				if n := strings.Count(got.String(), fmt.Sprintf("%s of %v, line ", s.ID(), owner)); n != 20 || strings.Count(got.String(), "\n") != 20 {
					t.Errorf("%d lines of its own in %q", n, got.String())
				}
			})
		}
	}
	all.Wait()
	if got := exec.running(); got != 0 {
		t.Errorf("%d processes run", got)
	}
}

// Nothing, written, is no answer.
func TestQuestionIsOpenUntilItIsAnswered(t *testing.T) {
	table := newTable(t, Limits{})
	s := open(t, table, ada, &scriptedExecutor{script: func(p *player) { io.WriteString(p.out, "name: "); <-p.killed }})
	if p := next(t, s, time.Hour); p.Asks == nil {
		t.Fatalf("page %+v", p)
	}
	if err := s.Write(nil, false); err != nil {
		t.Fatal(err)
	}
	if p := next(t, s, time.Hour); p.Asks == nil {
		t.Errorf("page %+v", p)
	}
	if err := s.Write([]byte("x"), false); err != nil {
		t.Fatal(err)
	}
	if p := next(t, s, 0); p.Asks != nil {
		t.Errorf("page %+v", p)
	}
}

// One conversation cannot take all places, even with several agents.
func TestSessionsAreSharedOut(t *testing.T) {
	table := New(Limits{})
	t.Cleanup(table.Close)
	open := func(conversation string) (n int) {
		for i := range 100 {
			s, err := table.Open(core.SessionKey{Session: conversation, Agent: fmt.Sprint(i)}, 0)
			if err != nil {
				return n
			}
			t.Cleanup(s.Abandon)
			n++
		}
		return n
	}
	opened := 0
	for i := range 5 {
		n := open(fmt.Sprint("c", i))
		if n == 0 || n > DefaultTotal/2+1 {
			t.Errorf("conversation %d opened %d", i, n)
		}
		opened += n
	}
	if opened > DefaultTotal {
		t.Errorf("%d opened", opened)
	}
}
