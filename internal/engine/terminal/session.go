package terminal

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
)

// Session is one process that talks, from its opening until it is forgotten.
// Its methods are safe for concurrent use.
type Session struct {
	table *Table
	owner core.SessionKey
	// number is the place of the session among those of its owner; id is made
	// of it.
	number int
	id     string
	skill  string
	tty    bool
	out    *output
	proc   executor.Process
	lost   func(ctx context.Context) string

	// ctx ends when the session is discarded.
	ctx     context.Context
	discard context.CancelFunc
	// The process runs; later, the session is out of the table.
	started, gone chan struct{}

	mu      sync.Mutex
	touched time.Time
	revoked string // what the process had when it was ended for it
	idled   bool
	input   input
	feeding sync.WaitGroup
}

func newSession(t *Table, owner core.SessionKey, number int) *Session {
	s := &Session{
		table: t, owner: owner, number: number, id: "s" + strconv.Itoa(number),
		started: make(chan struct{}), gone: make(chan struct{}),
	}
	s.ctx, s.discard = context.WithCancel(context.Background())
	return s
}

// Process is what a session runs.
type Process struct {
	Command executor.Command
	// Skill is the one whose command it is, for [Table.Skill].
	Skill string
	// TTY, Rows and Cols are those of executor.Terminal.
	TTY        bool
	Rows, Cols uint16
	// Secrets are in no page.
	Secrets []Secret
	// Guess recognises questions beside those that end in the prompt of a line;
	// nil recognises no others.
	Guess Guess
	// Lost, if set, returns what the process has and would not get now, "" for
	// nothing. It is asked by [Session.Revoke].
	Lost func(ctx context.Context) string
	// Finish is called once, when the process has ended, on a goroutine of the session's own.
	// Its result is the Final of the last page. Its ctx has the values of the one of Start,
	// and ends when no caller will ask for Final.
	Finish func(ctx context.Context, result executor.Result, err error) []byte
}

// Start starts the process of a session that was opened. ctx bounds the start
// only. After an error the session is no more, and Finish will not be called.
func (s *Session) Start(ctx context.Context, exec executor.Executor, p Process) error {
	if s.ctx.Err() != nil {
		s.Abandon()
		return ErrClosed
	}
	limits := s.table.limits
	positive(&p.Command.Limits.Timeout, limits.Timeout)
	s.skill, s.tty, s.out = p.Skill, p.TTY, newOutput(limits.Buffer, newCleaner(p.TTY, p.Secrets))
	s.out.guess, s.lost = p.Guess, p.Lost
	proc, err := exec.Start(ctx, p.Command, executor.Terminal{TTY: p.TTY, Rows: p.Rows, Cols: p.Cols, Output: s.out})
	if err != nil {
		s.Abandon()
		return err
	}
	s.proc = proc
	s.touch()
	close(s.started)
	go s.keep(context.WithoutCancel(ctx), p.Finish)
	return nil
}

// Abandon gives back the place of a session that will not be started.
func (s *Session) Abandon() {
	s.discard()
	s.table.abandon(s)
}

// keep owns the process, and then what is left of it.
func (s *Session) keep(ctx context.Context, finish func(context.Context, executor.Result, error) []byte) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()

	if s.untilIdle(s.proc.Done()) {
		s.mu.Lock()
		s.idled = true
		s.mu.Unlock()
	}
	s.proc.Kill() // does nothing after the end
	<-s.proc.Done()
	s.endInput()
	result, err := s.proc.Wait(context.WithoutCancel(ctx))
	if s.ctx.Err() != nil {
		cancel() // AfterFunc does so a moment later
	}
	final := finish(ctx, result, err)
	s.touch()
	s.out.end(final)

	s.untilIdle(nil)
	s.discard()
	s.table.remove(s)
	close(s.gone)
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
		rest := s.table.limits.Idle - time.Since(s.touched)
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
	s.touched = time.Now()
}

// Number returns the place of the session among those of its owner, from 1 on.
func (s *Session) Number() int { return s.number }

// ID returns the id by which the owner asks for the session.
func (s *Session) ID() string { return s.id }

// TTY reports whether the process has a terminal.
func (s *Session) TTY() bool { return s.tty }

// Idled reports whether the process was killed because no caller used it for the idle time.
func (s *Session) Idled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idled
}

// Next waits for a page of the text, and returns it when it is full or r.Wait is over.
// It returns earlier when the process has ended, and Finish too, or seems to ask for
// something. When ctx ends first, nothing counts as read and the error is that of ctx.
func (s *Session) Next(ctx context.Context, r Request) (Page, error) {
	page, err := s.out.next(ctx, r)
	s.touch()
	return page, err
}

// Kill ends the process and returns when it has ended and Finish has returned,
// or with the error of ctx. It reports whether the process was still running.
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

// Revoke ends the process if it has what it would not get now, and returns what that is,
// also when it was called before. "" is nothing, also when the process had
// ended by itself.
func (s *Session) Revoke(ctx context.Context) (lost string, err error) {
	s.mu.Lock()
	lost = s.revoked
	s.mu.Unlock()
	if lost == "" {
		if s.lost == nil || isClosed(s.proc.Done()) {
			return "", nil
		}
		if lost = s.lost(ctx); lost == "" {
			return "", nil
		}
		s.mu.Lock()
		s.revoked = lost
		s.mu.Unlock()
	}
	_, err = s.Kill(ctx)
	return lost, err
}

// Tail returns the last n bytes of the output so far, whether they were read or not.
func (s *Session) Tail(n int) string { return s.out.tail(n) }

// Finished reports that the process has ended and Finish has returned. It is
// so before a page tells of the end.
func (s *Session) Finished() bool { return isClosed(s.started) && isClosed(s.out.ended) }

// Forget makes the session unknown. The process, if it still runs, is killed.
func (s *Session) Forget() { s.discard() }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
