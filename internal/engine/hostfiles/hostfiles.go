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

// Named returns the files of a request with their names in the workspace. No two have the
// same: neither a file of an earlier message, nor one of the host that was noted before. A
// file without content gets a name only if its ID is an artifact; others may not be there.
func Named(files []core.File, scan *state.Scan, rec *state.Record) []core.File {
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
	since := notedSince(scan, rec)
	has := func(i int, name string) bool {
		at, noted := since[name]
		return noted && at < files[i].Origin
	}
	for i, name := range workspace.AttachedNames(names, has, func(i, j int) bool { return isSameFile(&files[i], &files[j]) }) {
		if files[i].Data != nil || artifactName(&files[i]) != "" {
			files[i].As = name
		}
	}
	return files
}

// artifactName returns the name of the artifact that a file without content stands for, or
// "".
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

// notedSince returns the names of the files of the host, each with the origin of the
// message at which it was noted. The origin is less than any if that message is not in the
// request.
func notedSince(scan *state.Scan, rec *state.Record) map[string]int {
	since := make(map[string]int)
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
			if _, noted := since[f.As]; !noted {
				since[f.As] = at
			}
		}
	}
	return since
}

// Tell adds a note to the message with which a turn begins. It says where commands find the
// files that the host adds to those of the messages. Each file is announced once, and not
// if a message has announced it. It is announced again after the announcement has left the
// history.
func Tell(rec *state.Record, host []workspace.Attachment, files []core.File, scan *state.Scan) {
	gone := lost(rec, scan)
	note, told := noted(rec, host, Named(files, scan, rec), gone)
	if len(note.Files) > 0 {
		note.Text = steps.AttachedLines(told)[0]
		rec.Notes = append(rec.Notes, note)
	}
}

// lost returns the names, by identity, of the files whose announcements have left the
// messages. It keeps one note of each such file in the record, which still has its name.
func lost(rec *state.Record, scan *state.Scan) map[string]string {
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

// Reserve returns the record that gives names to files of the host which came within a
// turn, beside the named files of the conversation. It returns rec where each has one. The
// answer of the call that stages them tells the model.
func Reserve(rec *state.Record, host []workspace.Attachment, files []core.File) *state.Record {
	if rec.Turn == 0 {
		return rec // no message of this conversation was seen
	}
	note, _ := noted(rec, host, files, nil)
	if len(note.Files) == 0 {
		return rec
	}
	rec = rec.Clone()
	rec.Notes = append(rec.Notes, note)
	return rec
}

// noted returns a note of the files of the host that have no name in the record, or have
// one in again. fresh are those of them that no message has brought.
func noted(rec *state.Record, host []workspace.Attachment, files []core.File, again map[string]string) (note state.Note, fresh []core.File) {
	note.Anchor = rec.User
	add := func(a *workspace.Attachment, as string) {
		f := state.NotedFile{Identity: a.Identity(), As: as}
		if slices.Contains(note.Files, f) {
			return
		}
		note.Files = append(note.Files, f)
		if !slices.ContainsFunc(files, func(f core.File) bool { return f.As == as }) {
			fresh = append(fresh, core.File{As: as, MIME: a.MIME, Size: len(a.Data)})
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
		case again[id] != "":
			add(a, again[id])
		case rec.FileOfHost(id) == "":
			unnamed, names = append(unnamed, *a), append(names, name)
		}
	}
	if len(unnamed) == 0 {
		return note, fresh
	}
	taken := make(map[string]bool)
	for i := range rec.Notes {
		for _, f := range rec.Notes[i].Files {
			taken[f.As] = true
		}
	}
	has := func(i int, name string) bool {
		return taken[name] || slices.ContainsFunc(files, func(f core.File) bool { return f.As == name && !isContent(&f, unnamed[i].Data) })
	}
	for i, name := range workspace.AttachedNames(names, has, func(i, j int) bool { return isSame(&unnamed[i], &unnamed[j]) }) {
		add(&unnamed[i], name)
	}
	return note, fresh
}

// isContent reports whether a file of a message has this content.
func isContent(f *core.File, data []byte) bool {
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

// Of returns the files of the host as workspaces attach them.
func Of(files []host.Attachment) []workspace.Attachment {
	all := make([]workspace.Attachment, len(files))
	for i := range files {
		all[i] = workspace.Attachment(files[i])
	}
	return all
}
