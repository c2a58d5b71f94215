package run

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"mime"
	"strings"

	"github.com/satchel-go/satchel/internal/engine/hostfiles"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/printable"
	host "github.com/satchel-go/satchel/workspace"
)

// attachments stages the files of a conversation and those of its host.
type attachments struct {
	scope *skilltools.Scope
	host  func(ctx context.Context) []host.Attachment
}

// stage stages the files of the conversation and then those of the host, with the names that the
// model knows. A file that cannot be staged becomes a warning.
func (f attachments) stage(ctx context.Context, place workspace.Workspace, from workspace.Sources, n *notes) (staged []workspace.StagedInput, err error) {
	host, err := f.hostFiles(ctx)
	if err != nil {
		return nil, err
	}
	files, texts := f.conversation(maxAttached - len(host))
	all, warnings, err := place.Attach(ctx, append(files, host...), from)
	if err != nil {
		return nil, err
	}
	listed := make(map[string]bool, len(all))
	for _, s := range all {
		if listed[s.Name] { // the same file was attached twice
			continue
		}
		listed[s.Name] = true
		if s.OriginalName != "" {
			s.OriginalName = printable.Cut(s.OriginalName, maxShownName)
		}
		s.MIME = mediaType(place, s)
		staged = append(staged, s)
	}
	texts = append(texts, warnings...)
	if more := len(texts) - maxAttachedNotes; more > 0 {
		texts = append(texts[:maxAttachedNotes], fmt.Sprintf("%d more attached files not staged", more))
	}
	n.add(texts...)
	return staged, nil
}

// hostFiles returns the files of the host, each with the name that the record reserves for it. It
// reserves names for files that were added since the turn began.
func (f attachments) hostFiles(ctx context.Context) ([]workspace.Attachment, error) {
	if f.host == nil {
		return nil, nil
	}
	files := hostfiles.FromHost(f.host(ctx))
	if len(files) == 0 {
		return nil, nil
	}
	attached := f.scope.Attached()
	var rec *state.Record
	_, err := f.scope.Update(ctx, func(now *state.Record) (*state.Record, string, error) {
		rec = hostfiles.Reserve(now, files, attached)
		return rec, "", nil
	})
	if err != nil {
		return nil, err
	}
	for i := range files {
		if name := rec.FileOfHost(files[i].Identity()); name != "" {
			files[i].As = name
		}
	}
	return files, nil
}

// conversation returns the files of the conversation, the newest if there are too many. notes
// report files that cannot be decoded.
func (f attachments) conversation(most int) (files []workspace.Attachment, notes []string) {
	attached := f.scope.Attached()
	if more := len(attached) - most; more > 0 {
		more = min(more, len(attached))
		attached = attached[more:]
		notes = append(notes, fmt.Sprintf("the oldest %d attached files not staged: there are more than %d", more, maxAttached))
	}
	for i, file := range attached {
		a := workspace.Attachment{ID: file.ID, Name: file.Name, MIME: file.MIME, As: file.As}
		if file.Data != nil {
			data, err := file.Data()
			if err != nil {
				label := cmp.Or(file.Name, file.ID, fmt.Sprint("number ", i+1))
				notes = append(notes, fmt.Sprintf("attached file %q not staged: %s", printable.Cut(label, maxShownName), printable.Cut(err.Error(), maxShownName)))
				continue
			}
			if a.Data = data; data == nil {
				a.Data = []byte{} // an empty file, unlike one whose content is unknown
			}
		}
		files = append(files, a)
	}
	return files, notes
}

// mediaType returns the type of a staged file from its message, or else from its content.
func mediaType(place workspace.Workspace, s workspace.StagedInput) string {
	if given, _, err := mime.ParseMediaType(s.MIME); err == nil && len(given) <= maxShownName && strings.Contains(given, "/") {
		return given
	}
	f, err := collect.Open(place, s.Name)
	if err != nil {
		return "" // a command has replaced it
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, headBytes))
	if err != nil {
		return ""
	}
	return collect.MIME(s.Name, head)
}
