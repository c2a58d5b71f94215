package tools

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/outputs"
	"github.com/satchel-go/satchel/workspace"
)

// Bounds of what is said about attached files.
const (
	maxAttached      = 1000 // that are staged, as workspace.Attach allows
	maxAttachedNotes = 10   // warnings; a chat may hold many pictures that are only links
	maxShownName     = 255  // bytes
)

// attach stages the files of the host and then those of the conversation. One
// that cannot be staged is a warning.
func (j *running) attach(ctx context.Context, from workspace.Sources) error {
	var files []workspace.Attachment
	if j.Attached != nil {
		files = slices.Clip(j.Attached(ctx))
	}
	files, notes := j.conversation(files)
	staged, warnings, err := j.place.Attach(ctx, files, from)
	if err != nil {
		return err
	}
	listed := make(map[string]bool, len(staged))
	for _, s := range staged {
		if listed[s.Name] { // the same file, attached twice
			continue
		}
		listed[s.Name] = true
		if s.OriginalName != "" {
			s.OriginalName = cut(s.OriginalName, maxShownName)
		}
		s.MIME = j.mediaType(s)
		j.staged = append(j.staged, s)
	}
	notes = append(notes, warnings...)
	if more := len(notes) - maxAttachedNotes; more > 0 {
		notes = append(notes[:maxAttachedNotes], fmt.Sprintf("%d more attached files not staged", more))
	}
	j.warnings = append(j.warnings, notes...)
	return nil
}

// conversation adds the files of the conversation, the newest where there are
// too many, and tells which of them cannot be decoded.
func (j *running) conversation(files []workspace.Attachment) (all []workspace.Attachment, notes []string) {
	if j.scope.Files == nil {
		return files, nil
	}
	attached := j.scope.Files()
	if more := len(files) + len(attached) - maxAttached; more > 0 {
		more = min(more, len(attached))
		attached = attached[more:]
		notes = append(notes, fmt.Sprintf("the oldest %d attached files not staged: there are more than %d", more, maxAttached))
	}
	for i, f := range attached {
		a := workspace.Attachment{ID: f.ID, Name: f.Name, MIME: f.MIME}
		if f.Data != nil {
			data, err := f.Data()
			if err != nil {
				label := cmp.Or(f.Name, f.ID, fmt.Sprint("number ", i+1))
				notes = append(notes, fmt.Sprintf("attached file %q not staged: %s", cut(label, maxShownName), cut(err.Error(), maxShownName)))
				continue
			}
			if a.Data = data; data == nil {
				a.Data = []byte{} // an empty file is not one whose content is unknown
			}
		}
		files = append(files, a)
	}
	return files, notes
}

// mediaType is the type that the message gave a staged file, or else what its
// content shows.
func (j *running) mediaType(s workspace.StagedInput) string {
	if given, _, err := mime.ParseMediaType(s.MIME); err == nil && len(given) <= maxShownName && strings.Contains(given, "/") {
		return given
	}
	f, _, err := outputs.Open(j.place.Root(), s.Name)
	if err != nil {
		return "" // a command has put something else in its place
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, headBytes))
	if err != nil {
		return ""
	}
	return outputs.MIME(s.Name, head)
}

// headBytes of a file show its type.
const headBytes = 3 << 10
