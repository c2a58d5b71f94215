package run

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/tools"
)

// scratch is what is staged for one command alone, and removed after it.
type scratch struct {
	place      workspace.Workspace
	agent      string
	plan       *plan
	editor     string // relative to the workspace
	home, temp string // likewise, of a privileged command
}

// name derives a name from the request, so that the same conversation always has the
// same bytes.
func (s *scratch) name(of string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %+v", s.agent, *s.plan))
	return fmt.Sprintf("%s-%x", of, sum[:4])
}

func (s *scratch) remove() {
	if s.editor != "" {
		_ = s.place.Remove(s.editor) // a command may have removed it
	}
	for _, dir := range []string{s.home, s.temp} {
		if dir != "" {
			_ = s.place.Discard(dir) // what cannot be removed goes with the workspace
		}
	}
}

// editorHead is the beginning of the program that $EDITOR runs. The text follows,
// from the fourth line on.
const editorHead = "#!/bin/sh\nfor last; do :; done\nexec tail -n +4 \"$0\" > \"$last\"\n"

// maxEditors bounds the names that are tried for an editor.
const maxEditors = 100

// stageEditor stages a program that writes the given text, for commands that start an editor.
// Each call has its own program, because the calls of one message run at the same time. A file
// that an earlier command has left under its name is not touched.
func (s *scratch) stageEditor() (string, error) {
	first := s.name("runs/editor")
	if s.temp != "" { // where no other command writes
		first = s.temp + "/editor"
	}
	for n := range maxEditors {
		name := first
		if n > 0 {
			name += fmt.Sprint("-", n+1)
		}
		err := s.place.Create(name, 0o700, []byte(editorHead+s.plan.editor))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("stage editor_text: %w", err)
		}
		s.editor = name
		return name, nil
	}
	return "", tools.ModelErrorf("editor_text cannot be staged: remove runs/editor-* first")
}
