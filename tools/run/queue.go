package run

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/satchel-go/satchel/internal/fairqueue"
	"github.com/satchel-go/satchel/tools"
)

// runsAlone explains to the model why a command cannot run beside others.
const runsAlone = "a command that reaches the network runs alone, and one whose skill asks for secrets beside no other skill's unless it starts and stays in its skill's folder"

// queue bounds how many commands run at once. It is fair to sessions.
type queue struct {
	limits fairqueue.Limits
	places *fairqueue.Queue[queueEntry]
}

// queueEntry is a command that wants to run.
type queueEntry struct {
	session string
	skill   string // its id
	beside  beside
}

// beside is what may run in the session beside a command.
type beside int

const (
	besideAll  beside = iota
	besideOwn         // commands of the same skill
	besideNone        // no other command
)

// isCompatible reports whether two commands of one session may run at the same time.
func (e queueEntry) isCompatible(other queueEntry) bool {
	strictest := max(e.beside, other.beside)
	return strictest == besideAll || strictest == besideOwn && e.skill == other.skill
}

// newQueue returns a queue. 0 means [defaultPerSession] and twice GOMAXPROCS.
func newQueue(perSession, total int) *queue {
	if perSession <= 0 {
		perSession = defaultPerSession
	}
	if total <= 0 {
		total = 2 * runtime.GOMAXPROCS(0)
	}
	limits := fairqueue.Limits{Places: total, Group: perSession}
	return &queue{limits, fairqueue.New(limits, queueEntry.isCompatible)}
}

// enter waits for a place, at most for timeout. Without an error the caller must call leave. A
// command that must run alone, or beside one that must, waits for commands of skill_run. It does
// not wait for sessions of skill_exec, because only the model can end those.
func (q *queue) enter(ctx context.Context, e queueEntry, timeout time.Duration) (leave func(), err error) {
	leave, err = q.places.Enter(ctx, e.session, e, timeout, nil)
	if errors.Is(err, fairqueue.ErrTimeout) {
		return nil, tools.ModelErrorf("not run: %d commands of a conversation, and %d in all, may run at once, and no place was free for %s: call again when others have ended",
			q.limits.Group, q.limits.Places, timeout)
	}
	return leave, modelErrorOf(err)
}

// join begins a session of skill_exec, which needs no place and does not wait. Without an error
// the caller must call leave.
func (q *queue) join(e queueEntry) (leave func(), err error) {
	leave, err = q.places.Join(e.session, e)
	return leave, modelErrorOf(err)
}

// modelErrorOf converts an error of the queue to one for the model.
func modelErrorOf(err error) error {
	switch {
	case errors.Is(err, fairqueue.ErrJoined):
		return tools.ModelErrorf("not run: %s: end the sessions of skill_exec with skill_kill_session first", runsAlone)
	case errors.Is(err, fairqueue.ErrIncompatible):
		return tools.ModelErrorf("not run: %s, and another one is running or waits to run: call again when it has ended", runsAlone)
	}
	return err
}
