package terminal

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
)

// Session is an interactive process, from its opening until it is forgotten. Its methods are safe
// for concurrent use.
type Session struct {
	table *Table
	owner core.SessionKey
	// number is the session's number among those of its owner; id is derived from it.
	number    int
	id        string
	skill     string
	tty       bool
	out       *output
	proc      executor.Process
	revocable func(ctx context.Context) string

	// ctx ends when the session is discarded.
	ctx context.Context
	// discard ends ctx and makes the session unknown.
	discard context.CancelFunc
	// started is closed when the process runs, and removed when the session is not in the
	// table any more.
	started, removed chan struct{}

	mu           sync.Mutex
	lastUse      time.Time
	revoked      string // the result of Revoke that ended the process
	isIdleKilled bool
	input        input
	feeding      sync.WaitGroup
}

func newSession(t *Table, owner core.SessionKey, number int) *Session {
	s := &Session{
		table: t, owner: owner, number: number, id: "s" + strconv.Itoa(number),
		started: make(chan struct{}), removed: make(chan struct{}),
	}
	s.ctx, s.discard = context.WithCancel(context.Background())
	return s
}

// Process describes what a session runs.
type Process struct {
	Command executor.Command
	// Skill is the skill whose command it is, for [Table.Skill].
	Skill string
	// TTY, Rows and Cols are those of executor.Terminal.
	TTY        bool
	Rows, Cols uint16
	// Secrets are values that no page shows.
	Secrets []Secret
	// Guess recognizes questions beside unfinished lines that end like a prompt. It may be nil.
	Guess Guess
	// Revocable, if set, names what the process was granted and would not be granted now, "" for
	// nothing. [Session.Revoke] calls it.
	Revocable func(ctx context.Context) string
	// Finish is called once, on a goroutine of the session, when the process has ended. Its
	// result is the Final of the last page. Its ctx has the values of the ctx of Start, and ends
	// when no caller will ask for Final.
	Finish func(ctx context.Context, result executor.Result, err error) []byte
}

// Start starts the process of an opened session. ctx bounds only the start. After an error the
// session does not exist any more, and Finish is not called.
func (s *Session) Start(ctx context.Context, exec executor.Executor, p Process) error {
	if s.ctx.Err() != nil {
		s.Abandon()
		return ErrClosed
	}
	limits := s.table.limits
	positive(&p.Command.Limits.Timeout, limits.Timeout)
	s.skill, s.tty, s.out = p.Skill, p.TTY, newOutput(limits.Buffer, newCleaner(p.TTY, p.Secrets))
	s.out.guess, s.revocable = p.Guess, p.Revocable
	proc, err := exec.Start(ctx, p.Command, executor.Terminal{TTY: p.TTY, Rows: p.Rows, Cols: p.Cols, Output: s.out})
	if err != nil {
		s.Abandon()
		return err
	}
	s.proc = proc
	s.touch()
	close(s.started)
	go s.run(context.WithoutCancel(ctx), p.Finish)
	return nil
}

// Abandon gives up a session that will not be started.
func (s *Session) Abandon() {
	s.discard()
	s.table.abandon(s)
}

// run waits for the end of the process, calls finish, and removes the session after the idle
// time.
func (s *Session) run(ctx context.Context, finish func(context.Context, executor.Result, error) []byte) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()

	if s.untilIdle(s.proc.Done()) {
		s.mu.Lock()
		s.isIdleKilled = true
		s.mu.Unlock()
	}
	s.proc.Kill() // does nothing after the end
	<-s.proc.Done()
	s.endInput()
	result, err := s.proc.Wait(context.WithoutCancel(ctx))
	if s.ctx.Err() != nil {
		cancel() // at once, without waiting for AfterFunc
	}
	final := finish(ctx, result, err)
	s.touch()
	s.out.end(final)

	s.untilIdle(nil)
	s.discard()
	s.table.remove(s)
	close(s.removed)
}

// untilIdle waits until no caller has used the session for the idle time. It returns false if
// done is closed or the session is discarded first.
func (s *Session) untilIdle(done <-chan struct{}) bool {
	timer := time.NewTimer(s.table.limits.Idle)
	defer timer.Stop()
	for {
		select {
		case <-done:
			return false
		case <-s.ctx.Done():
			return false
		case <-timer.C:
		}
		s.mu.Lock()
		rest := s.table.limits.Idle - time.Since(s.lastUse)
		s.mu.Unlock()
		if rest <= 0 {
			return true
		}
		timer.Reset(rest)
	}
}

func (s *Session) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastUse = time.Now()
}

// Number returns the session's number among those of its owner, from 1.
func (s *Session) Number() int { return s.number }

// ID returns the id by which the owner refers to the session.
func (s *Session) ID() string { return s.id }

// TTY reports whether the process has a terminal.
func (s *Session) TTY() bool { return s.tty }

// WasIdleKilled reports whether the process was killed because no caller used it for the idle
// time.
func (s *Session) WasIdleKilled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isIdleKilled
}

// Next waits for a page, and returns it when it is full or r.Wait is over. It returns earlier
// when the process has ended and Finish has returned, or when the process seems to ask for
// something. If ctx ends first, nothing counts as read and the error is that of ctx.
func (s *Session) Next(ctx context.Context, r Request) (Page, error) {
	page, err := s.out.next(ctx, r)
	s.touch()
	return page, err
}

// Kill ends the process, and waits until Finish has returned or ctx ends. It reports whether the
// process was still running.
func (s *Session) Kill(ctx context.Context) (killed bool, err error) {
	killed = !isClosed(s.proc.Done())
	s.proc.Kill()
	select {
	case <-s.out.ended:
		return killed, nil
	case <-ctx.Done():
		return killed, ctx.Err()
	}
}

// Revoke ends the process if it was granted something that it would not be granted now. It
// returns the name of that, also when it is called again. It returns "" if there is nothing to
// revoke or the process has ended by itself.
func (s *Session) Revoke(ctx context.Context) (lost string, err error) {
	s.mu.Lock()
	lost = s.revoked
	s.mu.Unlock()
	if lost == "" {
		if s.revocable == nil || isClosed(s.proc.Done()) {
			return "", nil
		}
		if lost = s.revocable(ctx); lost == "" {
			return "", nil
		}
		s.mu.Lock()
		s.revoked = lost
		s.mu.Unlock()
	}
	_, err = s.Kill(ctx)
	return lost, err
}

// Tail returns the last n bytes of the text, whether they were read or not.
func (s *Session) Tail(n int) string { return s.out.tail(n) }

// HasFinished reports that the process has ended and Finish has returned, even if no page has
// shown the end yet.
func (s *Session) HasFinished() bool { return isClosed(s.started) && isClosed(s.out.ended) }

// Forget makes the session unknown, and kills the process if it still runs.
func (s *Session) Forget() { s.discard() }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
