package workspace

import (
	"context"
	"errors"
)

// Unstage removes the files of a skill from the workspace, its HOME and .venv
// included, for a session that may not see it any more. A skill that is not staged is
// no error. A command that is running in it keeps what it has open.
func (ws *Local) Unstage(ctx context.Context, name string) error {
	s, err := ws.slot(name)
	if errors.Is(err, ErrName) {
		return nil // its directory is that of another skill
	}
	if err != nil {
		return err
	}
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.give()
	s.fingerprint, s.loads, s.seal = "", nil, nil
	var errs []error
	for _, in := range []string{skillsDir, homeDir} {
		dir, err := openDir(ws.root, in, false)
		if err != nil {
			continue // there is none, or a command has put something else in its place
		}
		errs = append(errs, removeAll(dir, s.dir), dir.Close())
	}
	return errors.Join(errs...)
}
