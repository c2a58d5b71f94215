package tools

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// editorHead is the beginning of what $EDITOR runs: the text follows on it, from
// the fourth line on.
const editorHead = "#!/bin/sh\nfor last; do :; done\nexec tail -n +4 \"$0\" > \"$last\"\n"

// maxEditors bounds the names that are tried for an editor.
const maxEditors = 100

// stageEditor stages a program that writes the given text, for commands that
// start an editor, and returns its path as the command sees it. Each call has
// one of its own, because those of one message run at the same time, and its
// name is made of the request, so that the same conversation has the same
// bytes. What an earlier command has left under that name is let alone.
func (j *running) stageEditor() (string, error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %+v", j.scope.Key.Agent, *j.req))
	for n := range maxEditors {
		name := fmt.Sprintf("runs/editor-%x", sum[:4])
		if n > 0 {
			name += fmt.Sprint("-", n+1)
		}
		f, err := j.place.Root().OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			j.editor = name
			_, err = f.WriteString(editorHead + j.req.editor)
			err = cmp.Or(err, f.Close())
		}
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err // its path is one of the host
		}
		if err != nil {
			return "", fmt.Errorf("stage editor_text: %w", err)
		}
		return j.seen(name), nil
	}
	return "", tellf("editor_text cannot be staged: remove runs/editor-* first")
}
