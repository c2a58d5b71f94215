// Package hostfiles names the files of a conversation in work/inputs: those of its messages
// and those of the host. A name depends on the messages and the record alone. So a retry, a
// restart and another replica choose the same one.
package hostfiles

import (
	"bytes"
	"path"
	"slices"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/internal/files/workspace"
	host "github.com/satchel-go/satchel/workspace"
)

// NameAll returns the files of a request with their names in the workspace. Names are unique,
// also among files of earlier messages and files of the host. A file without content gets a name
// only if its ID is an artifact, because it may not exist otherwise.
func NameAll(files []core.File, scan *state.Scan, rec *state.Record) []core.File {
	if len(files) == 0 {
		return files
	}
	files = slices.Clone(files)
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].Name
		if artifact := artifactName(&files[i]); artifact != "" && names[i] == "" {
			names[i] = artifact
		}
	}
	noted := notedAt(scan, rec)
	has := func(i int, name string) bool {
		at, ok := noted[name]
		return ok && at < files[i].Origin
	}
	for i, name := range workspace.AttachedNames(names, has, func(i, j int) bool { return isSameFile(&files[i], &files[j]) }) {
		if files[i].Data != nil || artifactName(&files[i]) != "" {
			files[i].As = name
		}
	}
	return files
}

// artifactName returns the name of the artifact that a file without content refers to, or "".
func artifactName(f *core.File) string {
	if f.Data != nil || f.ID == "" {
		return ""
	}
	ref, err := artifacts.ParseRef(f.ID)
	if err != nil {
		return ""
	}
	return path.Base(ref.Name)
}

func isSameFile(f, other *core.File) bool {
	if f.Data == nil && other.Data == nil {
		return f.ID == other.ID && f.Name == other.Name
	}
	return f.SameAs(other)
}

// notedAt maps the names of the host's files to the origin of the message at which they were
// announced. The origin is core.Inserted if that message is not in the request.
func notedAt(scan *state.Scan, rec *state.Record) map[string]int {
	origins := make(map[string]int)
	for i := range rec.Notes {
		n := &rec.Notes[i]
		if len(n.Files) == 0 {
			continue
		}
		at := core.Inserted
		if i := scan.Anchor(n.Anchor, rec.Turn); i >= 0 {
			at = scan.Messages[i].Origin
		}
		for _, f := range n.Files {
			if _, noted := origins[f.As]; !noted {
				origins[f.As] = at
			}
		}
	}
	return origins
}

// Announce adds a note to the first message of a turn. It says where commands find the files that
// the host adds to those of the messages. Each file is announced once, and not if a message has
// announced it. It is announced again after the host has cut the announcement from the history.
func Announce(rec *state.Record, host []workspace.Attachment, files []core.File, scan *state.Scan) {
	note, unannounced := newNote(rec, host, NameAll(files, scan, rec), cutNames(rec, scan))
	if len(note.Files) > 0 {
		note.Text = steps.AttachedLines(unannounced)[0]
		rec.Notes = append(rec.Notes, note)
	}
}

// cutNames returns the names of the files, by identity, whose announcements are not in the
// messages any more. It keeps one note for each such file in the record, which has the name.
func cutNames(rec *state.Record, scan *state.Scan) map[string]string {
	names := make(map[string]string)
	rec.Notes = slices.DeleteFunc(rec.Notes, func(n state.Note) bool {
		if len(n.Files) == 0 || scan.Anchor(n.Anchor, rec.Turn) >= 0 {
			return false
		}
		before := len(names)
		for _, f := range n.Files {
			names[f.Identity] = f.As
		}
		return len(names) == before
	})
	for i := range rec.Notes {
		if n := &rec.Notes[i]; scan.Anchor(n.Anchor, rec.Turn) >= 0 {
			for _, f := range n.Files {
				delete(names, f.Identity)
			}
		}
	}
	return names
}

// Reserve returns a record with names for files of the host that were added within a turn. It
// returns rec if all have one. files are the named files of the conversation. The answer of the
// call that stages the files tells the model their names.
func Reserve(rec *state.Record, host []workspace.Attachment, files []core.File) *state.Record {
	if rec.Turn == 0 {
		return rec // no message of this conversation was seen
	}
	note, _ := newNote(rec, host, files, nil)
	if len(note.Files) == 0 {
		return rec
	}
	rec = rec.Clone()
	rec.Notes = append(rec.Notes, note)
	return rec
}

// newNote returns a note about the host's files that have no name in the record or that are in
// cut, with their names there. unannounced are the files among them that no message has brought.
func newNote(rec *state.Record, host []workspace.Attachment, files []core.File, cut map[string]string) (note state.Note, unannounced []core.File) {
	note.Anchor = rec.User
	add := func(a *workspace.Attachment, as string) {
		f := state.NotedFile{Identity: a.Identity(), As: as}
		if slices.Contains(note.Files, f) {
			return
		}
		note.Files = append(note.Files, f)
		if !slices.ContainsFunc(files, func(f core.File) bool { return f.As == as }) {
			unannounced = append(unannounced, core.File{As: as, MIME: a.MIME, Size: len(a.Data)})
		}
	}
	var unnamed []workspace.Attachment
	var names []string
	for i := range host {
		a := &host[i]
		// Other names are not known before they are staged.
		name := nameOf(a)
		if a.Data == nil && (name == "" || a.Ref == "") || len(unnamed)+len(note.Files) >= maxNoted {
			continue
		}
		switch id := a.Identity(); {
		case cut[id] != "":
			add(a, cut[id])
		case rec.FileOfHost(id) == "":
			unnamed, names = append(unnamed, *a), append(names, name)
		}
	}
	if len(unnamed) == 0 {
		return note, unannounced
	}
	taken := make(map[string]bool)
	for i := range rec.Notes {
		for _, f := range rec.Notes[i].Files {
			taken[f.As] = true
		}
	}
	has := func(i int, name string) bool {
		return taken[name] || slices.ContainsFunc(files, func(f core.File) bool { return f.As == name && !hasContent(&f, unnamed[i].Data) })
	}
	for i, name := range workspace.AttachedNames(names, has, func(i, j int) bool { return isSame(&unnamed[i], &unnamed[j]) }) {
		add(&unnamed[i], name)
	}
	return note, unannounced
}

// hasContent reports whether a file of a message has this content.
func hasContent(f *core.File, data []byte) bool {
	if data == nil || f.Data == nil || f.Size != 0 && f.Size != len(data) {
		return false
	}
	content, err := f.Data()
	return err == nil && bytes.Equal(content, data)
}

func nameOf(a *workspace.Attachment) string {
	for _, name := range []string{a.As, a.Name} {
		if name != "" {
			return name
		}
	}
	if ref, err := artifacts.ParseRef(a.Ref); a.Ref != "" && err == nil {
		return path.Base(ref.Name)
	}
	return ""
}

func isSame(a, b *workspace.Attachment) bool {
	return a.ID == b.ID && a.Ref == b.Ref && bytes.Equal(a.Data, b.Data)
}

// FromHost converts files of the host for workspaces.
func FromHost(files []host.Attachment) []workspace.Attachment {
	all := make([]workspace.Attachment, len(files))
	for i := range files {
		all[i] = workspace.Attachment(files[i])
	}
	return all
}
