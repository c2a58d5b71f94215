package run

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

// runWorkspace is the workspace of one run.
type runWorkspace struct {
	session string
	ws      workspace.Workspace
}

// end removes the workspace.
func (w runWorkspace) end(r *Runner) error {
	w.ws.Release()
	return r.Workspaces.End(w.session)
}

// spares are workspaces that no run has used, for which the executor has prepared what commands need,
// such as a container. The zero value has none.
type spares struct {
	mu     sync.Mutex
	ready  []runWorkspace
	coming int // that are prepared now
	last   int // number of the last one
	closed bool
	tasks  sync.WaitGroup // prepare workspaces, or remove them
}

// workspaceOf returns a spare workspace, or a new one if there is none.
func (r *Runner) workspaceOf(ctx context.Context, job Job) (runWorkspace, error) {
	prepares, ok := r.Executor.(executor.Preparer)
	if ok {
		defer r.spares.fill(r, prepares)
		if w, ok := r.spares.take(); ok {
			return w, nil
		}
	}
	w := runWorkspace{session: "run/" + job.Tenant + "/" + job.ID}
	var err error
	w.ws, err = r.Workspaces.Of(ctx, w.session)
	return w, err
}

// endWorkspace removes the workspace of a run. Where that takes the end of a container, the run does not
// wait for it. What cannot be removed then is removed with all workspaces.
func (r *Runner) endWorkspace(w runWorkspace) error {
	if _, ok := r.Executor.(executor.Preparer); !ok {
		return w.end(r)
	}
	r.spares.tasks.Go(func() { _ = w.end(r) })
	return nil
}

// take returns a spare workspace, and false if there is none.
func (s *spares) take() (runWorkspace, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ready) == 0 {
		return runWorkspace{}, false
	}
	w := s.ready[0]
	s.ready = s.ready[1:]
	return w, true
}

// fill prepares workspaces in the background until there are maxSpares. One that cannot be prepared is
// given up: the run without it gets the error.
func (s *spares) fill(r *Runner, by executor.Preparer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; !s.closed && len(s.ready)+s.coming < maxSpares; s.coming++ {
		s.last++
		w := runWorkspace{session: "spare/" + strconv.Itoa(s.last)}
		s.tasks.Go(func() {
			err := w.prepare(r, by)
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.coming--; err == nil {
				s.ready = append(s.ready, w)
			}
		})
	}
}

// prepare makes the workspace. After an error there is none.
func (w *runWorkspace) prepare(r *Runner, by executor.Preparer) (err error) {
	if w.ws, err = r.Workspaces.Of(context.Background(), w.session); err != nil {
		return err
	}
	if err := by.Prepare(context.Background(), w.ws.Path(), r.Limits); err != nil {
		return errors.Join(err, w.end(r))
	}
	return nil
}

// close removes the spare workspaces.
func (s *spares) close(r *Runner) (err error) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.tasks.Wait()
	for _, w := range s.ready {
		err = errors.Join(err, w.end(r))
	}
	s.ready = nil
	return err
}
