package author

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/internal/files/plainfile"
	"github.com/satchel-go/satchel/skillmd"
)

// inspection is the result for one file; the names of its fields in JSON are stable.
type inspection struct {
	Path         string               `json:"path"`
	Loaded       bool                 `json:"loaded"`
	Name         string               `json:"name"`
	Description  string               `json:"description"`
	AllowedTools []string             `json:"allowed_tools"`
	BodyBytes    int                  `json:"body_bytes"`
	Diagnostics  []skillmd.Diagnostic `json:"diagnostics"`
}

// inspectFile never fails: what is wrong with the file is a diagnostic.
func inspectFile(path string, mode skillmd.Mode, advise bool) inspection {
	r := inspection{Path: path, AllowedTools: []string{}, Diagnostics: []skillmd.Diagnostic{}}
	text, err := readSkillFile(path)
	if err != nil {
		r.Diagnostics = append(r.Diagnostics, skillmd.Diagnostic{
			File: path, Code: catalog.CodeUnreadable, Severity: skillmd.Error, Message: err.Error(),
		})
		return r
	}
	opts := []skillmd.Option{skillmd.WithMode(mode), skillmd.WithFile(path)}
	if dir := dirName(path); dir != "" {
		opts = append(opts, skillmd.WithDirName(dir))
	}
	doc, diagnostics, err := skillmd.Parse(text, opts...)
	r.Loaded = err == nil
	r.Name, r.Description = doc.Skill.Name, doc.Skill.Description
	r.AllowedTools = append(r.AllowedTools, doc.Skill.AllowedTools...)
	r.BodyBytes = len(doc.Body)
	for _, d := range diagnostics {
		if errors.Is(err, skillmd.ErrNotSkill) {
			d.Severity = skillmd.Error // the file is not loaded
		}
		r.Diagnostics = append(r.Diagnostics, d)
	}
	if r.Loaded {
		skill := doc.Skill
		skill.Place = path
		r.Diagnostics = append(r.Diagnostics, places.KnownTools.Findings(skill)...)
	}
	if r.Loaded && advise {
		skill := doc.Skill
		skill.Place = path
		r.Diagnostics = append(r.Diagnostics, places.KnownTools.TextFindings(skill, doc.Body, doc.BodyLine)...)
		dir, aboutFiles := filepath.Dir(path), 0
		for _, d := range doc.Advise(text, filesToAdvise(dir)...) {
			switch {
			case d.File == "":
				d.File = path
			case aboutFiles == maxAdviceLines:
				continue
			default:
				aboutFiles++
				d.Message = d.File + ": " + d.Message
				d.File = filepath.Join(dir, filepath.FromSlash(d.File))
			}
			r.Diagnostics = append(r.Diagnostics, d)
		}
	}
	return r
}

// dirName returns the base name of the directory of a file. It returns "" for the root, or if the
// working directory is unknown.
func dirName(path string) string {
	dir := filepath.Dir(path)
	name := filepath.Base(dir)
	if name == "." || name == ".." {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return ""
		}
		dir, name = abs, filepath.Base(abs)
	}
	if dir == filepath.Dir(dir) {
		return ""
	}
	return name
}

// readSkillFile reads a regular file that is not too large. O_NONBLOCK keeps a
// pipe, which has no other end yet, from stopping the command.
func readSkillFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, reason(err)
	case info.IsDir():
		return nil, errors.New("is a directory without a SKILL.md")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	}
	// A file can grow while it is read, so the size is checked again.
	text, err := io.ReadAll(io.LimitReader(f, maxSkillFile+1))
	if err != nil {
		return nil, reason(err)
	}
	if len(text) > maxSkillFile {
		return nil, fmt.Errorf("is larger than %d bytes", maxSkillFile)
	}
	return text, nil
}

// reason returns an error without its operation and path, because the diagnostic names
// the file.
func reason(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}
