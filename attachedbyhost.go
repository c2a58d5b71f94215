package satchel

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/workspace"
)

// maxToldFiles is of how many files of the host a turn tells; an answer of skill_run
// lists all.
const maxToldFiles = 100

// tellAttached notes at the message with which a turn begins where commands find the
// files that the host adds to those of the messages. A file is told once.
func (r *Runtime) tellAttached(ctx context.Context, rec *session.Record) {
	if r.runner == nil || r.runner.Attached == nil || rec.NoSkills {
		return
	}
	var fresh []string
	for _, line := range attachedLines(r.runner.Attached(ctx)) {
		told := func(n session.Note) bool { return slices.Contains(strings.Split(n.Text, "\n"), line) }
		if len(fresh) < maxToldFiles && !slices.ContainsFunc(rec.Notes, told) {
			fresh = append(fresh, line)
		}
	}
	if len(fresh) > 0 {
		rec.Notes = append(rec.Notes, session.Note{Anchor: rec.User, Text: strings.Join(fresh, "\n")})
	}
}

// attachedLines tells of each file whose name in the workspace is known before it is
// staged: one with content or of the artifact store.
func attachedLines(files []workspace.Attachment) []string {
	names := make([]string, len(files))
	for i := range files {
		names[i] = attachedName(&files[i])
	}
	var told []core.File
	for i, name := range workspace.AttachedNames(names, func(i, j int) bool { return sameAttachment(&files[i], &files[j]) }) {
		if f := &files[i]; f.Data != nil || names[i] != "" && f.Ref != "" {
			told = append(told, core.File{As: name, MIME: f.MIME, Size: len(f.Data)})
		}
	}
	if len(told) == 0 {
		return nil
	}
	return strings.Split(processors.AttachedLines(told)[0], "\n")
}

func attachedName(f *workspace.Attachment) string {
	for _, name := range []string{f.As, f.Name} {
		if name != "" {
			return name
		}
	}
	if ref, err := artifacts.ParseRef(f.Ref); f.Ref != "" && err == nil {
		return path.Base(ref.Name)
	}
	return ""
}

func sameAttachment(a, b *workspace.Attachment) bool {
	return a.ID == b.ID && a.Ref == b.Ref && bytes.Equal(a.Data, b.Data)
}
