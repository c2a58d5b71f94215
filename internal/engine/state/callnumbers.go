package state

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
)

// CallNumbers saves the numbers of model calls in the records of their agents, for a tracer. It saves
// them beside the requests, so that no request waits for the store. It is safe for concurrent use.
type CallNumbers struct {
	agents *Agents
	log    *slog.Logger

	mu    sync.Mutex
	saves map[core.SessionKey]*numberSave // that have not ended
}

// numberSave is a save that runs.
type numberSave struct {
	number int             // the highest number that it must save
	ctx    context.Context // of the save
	done   chan struct{}   // closed when the save has ended
}

// NewCallNumbers returns CallNumbers for the agents of a runtime.
func NewCallNumbers(agents *Agents, log *slog.Logger) *CallNumbers {
	return &CallNumbers{agents: agents, log: log, saves: map[core.SessionKey]*numberSave{}}
}

// last returns the number of an agent's last model call that this process knows.
func (c *CallNumbers) last(key core.SessionKey) int {
	number, _ := c.agents.LastCall(key)
	return number
}

// Save begins to save a number in the record of an agent, and returns at once. The save takes at most
// maxNumberSave. If it fails, the log has a warning.
func (c *CallNumbers) Save(ctx context.Context, records *Records, key core.SessionKey, number int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.saves[key]; s != nil {
		s.number = max(s.number, number)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxNumberSave)
	s := &numberSave{number: number, ctx: ctx, done: make(chan struct{})}
	c.saves[key] = s
	go func() {
		defer cancel()
		c.run(s, records, key)
	}()
}

// run saves the number of s, and again while s gets higher ones.
func (c *CallNumbers) run(s *numberSave, records *Records, key core.SessionKey) {
	defer close(s.done)
	for saved := 0; ; {
		c.mu.Lock()
		number := s.number
		if number == saved {
			delete(c.saves, key)
		}
		c.mu.Unlock()
		if number == saved {
			return
		}
		if err := c.save(s.ctx, records, key, number); err != nil {
			c.log.WarnContext(s.ctx, "the number of a model call is not kept: another process may give it again", "session", key.Session, "agent", key.Agent, "err", err)
		}
		saved = number
	}
}

func (c *CallNumbers) save(ctx context.Context, records *Records, key core.SessionKey, number int) error {
	_, err := records.updateNow(ctx, key, records.latest(key), func(rec *Record) (*Record, error) {
		if rec.Version == 0 || rec.Traced.Calls >= number { // the session has ended, or another save had the number
			return nil, nil
		}
		next := rec.Clone()
		next.Traced.Calls = number
		return next, nil
	})
	return err
}

// Wait waits until the running save of an agent has ended, but at most limit, and not after the end of
// ctx. It reports whether there was one.
func (c *CallNumbers) Wait(ctx context.Context, key core.SessionKey, limit time.Duration) bool {
	c.mu.Lock()
	s := c.saves[key]
	c.mu.Unlock()
	if s == nil {
		return false
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-s.ctx.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
	return true
}

// Close waits for all saves. The host may close its store then.
func (c *CallNumbers) Close() error {
	c.waitFor(context.Background(), func(core.SessionKey) bool { return true })
	return nil
}

// waitFor waits for the saves of the agents that isOf accepts.
func (c *CallNumbers) waitFor(ctx context.Context, isOf func(core.SessionKey) bool) {
	c.mu.Lock()
	keys := slices.DeleteFunc(slices.Collect(maps.Keys(c.saves)), func(key core.SessionKey) bool { return !isOf(key) })
	c.mu.Unlock()
	for _, key := range keys {
		c.Wait(ctx, key, maxNumberSave)
	}
}

// CountCall counts a model call for a tracer, and returns its number. isSaved reports that the record has the
// number already.
func (a *Agent) CountCall() (number int, isSubagent, isSaved bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.modelCalls++
	isSaved = a.modelCalls == a.reserved
	a.reserved = 0
	return a.modelCalls, a.isSubagent, isSaved
}

// LastCall returns the number of the last model call, 0 if it is not known, and whether another agent of
// the session came first.
func (a *Agent) LastCall() (number int, isSubagent bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.modelCalls, a.isSubagent
}
