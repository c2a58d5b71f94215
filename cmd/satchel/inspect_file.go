package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/plainfile"
	"github.com/satchel-go/satchel/skillmd"
)

// maxSkillFile is the size in bytes above which a SKILL.md is not read.
const maxSkillFile = 1 << 20

// inspection is what is known of one file; the names of its fields in JSON are
// stable.
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
func inspectFile(path string, mode skillmd.Mode) inspection {
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
	r.Diagnostics = append(r.Diagnostics, diagnostics...)
	return r
}

// dirName is the base name of the directory that holds the file, or "" where
// there is none (the root) or it cannot be told.
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
		return nil, errors.New("is a directory; name the SKILL.md in it")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	}
	// The size is a promise that a file may break while it is read.
	text, err := io.ReadAll(io.LimitReader(f, maxSkillFile+1))
	if err != nil {
		return nil, reason(err)
	}
	if len(text) > maxSkillFile {
		return nil, fmt.Errorf("is larger than %d bytes", maxSkillFile)
	}
	return text, nil
}

// reason leaves out the operation and the path: the diagnostic names the file.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// printable keeps text from outside on one line, away from the terminal's control
// sequences, and in the order in which it is written: characters that only change
// how others are shown go too, but for those that join letters and emoji.
func printable(s string) string {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return strings.Map(func(r rune) rune {
		if r == nonJoiner || r == joiner {
			return r
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
