package satchel

import (
	"bytes"
	"context"
	"path"
	"slices"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/workspace"
)

// maxToldFiles is of how many files of the host a turn tells; an answer of skill_run
// lists all.
const maxToldFiles = 100

// named returns the files of a request with the names that they get in the workspace:
// none that an earlier message has, or a file of the host that was told before. What is
// known by its ID alone gets none, because nobody knows whether it can be staged.
func named(files []core.File, messages []core.Message, rec *session.Record) []core.File {
	if len(files) == 0 {
		return files
	}
	files = slices.Clone(files)
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].Name
	}
	since := toldSince(messages, rec)
	has := func(i int, name string) bool {
		at, told := since[name]
		return told && at < files[i].Origin
	}
	for i, name := range workspace.AttachedNames(names, has, func(i, j int) bool { return files[i].SameAs(&files[j]) }) {
		if files[i].Data != nil {
			files[i].As = name
		}
	}
	return files
}

// toldSince returns the names of the files of the host, with the origins of the messages
// that tell them, less than any where it is not in the request.
func toldSince(messages []core.Message, rec *session.Record) map[string]int {
	since := make(map[string]int)
	for i := range rec.Notes {
		n := &rec.Notes[i]
		if len(n.Files) == 0 {
			continue
		}
		at := core.Inserted
		if i := processors.Anchor(messages, n.Anchor, rec.Turn); i >= 0 {
			at = messages[i].Origin
		}
		for _, f := range n.Files {
			if _, told := since[f.As]; !told {
				since[f.As] = at
			}
		}
	}
	return since
}

// tellAttached notes at the message with which a turn begins where commands find the
// files that the host adds to those of the messages. A file is told once, and not where
// a message has told it.
func (r *Runtime) tellAttached(ctx context.Context, rec *session.Record, req *core.Request) {
	if r.runner == nil || r.runner.Attached == nil || rec.NoSkills {
		return
	}
	var files []workspace.Attachment
	var names []string
	for _, f := range r.runner.Attached(ctx) {
		// Other names are not known before they are staged.
		if name := attachedName(&f); f.Data != nil || name != "" && f.Ref != "" {
			if rec.FileOfHost(f.Identity()) == "" && len(files) < maxToldFiles {
				files, names = append(files, f), append(names, name)
			}
		}
	}
	if len(files) == 0 {
		return
	}
	of, told := named(req.Files, req.Messages, rec), toldSince(req.Messages, rec)
	brings := func(i int, name string) bool {
		return slices.ContainsFunc(of, func(f core.File) bool { return f.As == name && !isContent(&f, files[i].Data) })
	}
	has := func(i int, name string) bool {
		_, taken := told[name]
		return taken || brings(i, name)
	}
	note := session.Note{Anchor: rec.User}
	var fresh []core.File
	for i, name := range workspace.AttachedNames(names, has, func(i, j int) bool { return sameAttachment(&files[i], &files[j]) }) {
		f := session.NotedFile{Identity: files[i].Identity(), As: name}
		if slices.Contains(note.Files, f) {
			continue
		}
		note.Files = append(note.Files, f)
		if !slices.ContainsFunc(of, func(f core.File) bool { return f.As == name }) {
			fresh = append(fresh, core.File{As: name, MIME: files[i].MIME, Size: len(files[i].Data)})
		}
	}
	note.Text = processors.AttachedLines(fresh)[0]
	rec.Notes = append(rec.Notes, note)
}

// isContent reports whether a file of a message has this content.
func isContent(f *core.File, data []byte) bool {
	if data == nil || f.Data == nil || f.Size != 0 && f.Size != len(data) {
		return false
	}
	content, err := f.Data()
	return err == nil && bytes.Equal(content, data)
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
