package run

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"github.com/satchel-go/satchel/tools"
)

// editorHead is the beginning of the program that $EDITOR runs. The text follows,
// from the fourth line on.
const editorHead = "#!/bin/sh\nfor last; do :; done\nexec tail -n +4 \"$0\" > \"$last\"\n"

// maxEditors bounds the names that are tried for an editor.
const maxEditors = 100

// stageEditor stages a program that writes the given text, for commands that
// start an editor, and returns its path as the command sees it. Each call has a
// program of its own, because the calls of one message run at the same time. Its
// name is derived from the request, so that the same conversation always has the
// same bytes. A file that an earlier command has left under that name is not
// touched. Decision 28 says why.
func (st *staging) stageEditor() (string, error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %+v", st.scope.Key.Agent, *st.plan))
	for n := range maxEditors {
		name := fmt.Sprintf("runs/editor-%x", sum[:4])
		if n > 0 {
			name += fmt.Sprint("-", n+1)
		}
		err := st.place.Create(name, 0o700, []byte(editorHead+st.plan.editor))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("stage editor_text: %w", err)
		}
		st.editor = name
		return st.seen(name), nil
	}
	return "", tools.ModelErrorf("editor_text cannot be staged: remove runs/editor-* first")
}
