package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/satchel-go/satchel/internal/files/plainfile"
	"github.com/satchel-go/satchel/skillmd"
)

// SkillFile is the exact name of the file that makes a directory a skill.
const SkillFile = "SKILL.md"

// IsSkillFile reports whether name is SKILL.md in any case. Comparing the length excludes letters
// that only Unicode folds to these, such as the Kelvin sign.
func IsSkillFile(name string) bool {
	return len(name) == len(SkillFile) && strings.EqualFold(name, SkillFile)
}

// NeverSearched reports whether a directory is never searched: it holds data of version control
// or installed packages.
func NeverSearched(dir string) bool {
	switch dir {
	case ".git", ".hg", ".svn", "node_modules":
		return true
	}
	return false
}

// visit reads one directory: its SKILL.md, if it has one, and the names of its subdirectories.
func (s *Scanner) visit(dir string) dirContent {
	candidates, out := s.list(dir)
	if out.err != nil {
		return out
	}
	for _, entry := range candidates {
		if out.found = s.read(dir, entry, &out); out.found != nil {
			break
		}
	}
	return out
}

// peek counts the SKILL.md files in a directory inside a skill, and lists its subdirectories. It
// reads no file and returns no diagnostics.
func (s *Scanner) peek(dir string) dirContent {
	candidates, out := s.list(dir)
	return dirContent{candidates: len(candidates), subdirs: out.subdirs}
}

// list sorts the entries of a directory into those that may be its SKILL.md, the
// exact name first, and the directories to search.
func (s *Scanner) list(dir string) (candidates []fs.DirEntry, out dirContent) {
	entries, cut, err := s.Tree.ReadDir(dir, maxEntries)
	if err != nil {
		switch {
		case dir == ".":
			out.err = err
		case !errors.Is(err, fs.ErrNotExist): // else it was deleted meanwhile
			out.note(s.Diagnostic(skillmd.Warning, CodeUnreadable, dir, "directory cannot be read: "+Cause(err).Error()))
		}
		return nil, out
	}
	if cut {
		out.note(s.Diagnostic(skillmd.Warning, CodeLimit, dir, fmt.Sprintf("more than %d entries in this directory: the rest is not searched", maxEntries)))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var links []string
	for _, entry := range entries {
		name := entry.Name()
		if !isName(name) {
			continue
		}
		if IsSkillFile(name) {
			candidates = append(candidates, entry)
		}
		switch {
		case entry.IsDir() && !NeverSearched(name):
			out.subdirs = append(out.subdirs, Below(dir, name))
		case entry.Type()&fs.ModeSymlink != 0 && !IsSkillFile(name) && !NeverSearched(name):
			links = append(links, name)
		}
	}
	slices.SortStableFunc(candidates, func(a, b fs.DirEntry) int {
		return TrueFirst(a.Name() == SkillFile, b.Name() == SkillFile)
	})
	if len(candidates) == 0 && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "skill.toml" && !e.IsDir() }) {
		out.note(s.Diagnostic(skillmd.Warning, CodeNoFile, dir, "there is a skill.toml and no "+SkillFile+": it is no skill without one"))
	}
	_, isDir := s.Tree.(*DirTree)
	switch {
	case len(candidates) > 0: // links inside a skill need no finding
	case s.leavesLinks && dir == "." && isDir:
		s.links = links // no other goroutine runs while the root is visited
	default:
		s.noteLinks(dir, links, &out)
	}
	return candidates, out
}

// TrueFirst sorts true before false.
func TrueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// noteLinks adds findings about links that are not followed, because the skills behind them are
// missing from the catalog. A directory gets at most one finding about links to directories, and
// one about links that lead nowhere.
func (s *Scanner) noteLinks(dir string, links []string, out *dirContent) {
	var missed []string
	var dead []skillmd.Diagnostic
	if len(links) > maxFollowed {
		out.note(s.Diagnostic(skillmd.Warning, CodeLimit, dir, fmt.Sprintf("more than %d links in this directory: the rest is not checked", maxFollowed)))
	}
	for _, name := range links[:min(len(links), maxFollowed)] {
		info, err := s.Tree.Stat(Below(dir, name))
		if t, ok := s.Tree.(*DirTree); ok && err != nil { // a link out of the root may also lead nowhere
			if _, gone := os.Stat(filepath.Join(t.root.Name(), filepath.FromSlash(Below(dir, name)))); errors.Is(gone, fs.ErrNotExist) || errors.Is(gone, syscall.ELOOP) {
				err = gone
			}
		}
		switch {
		case err == nil && info.IsDir(), err != nil && errors.Is(Cause(err), ErrPath):
			missed = append(missed, name)
		case err != nil:
			dead = append(dead, s.notFollowed(Below(dir, name), s.target(Below(dir, name)), whyUnresolved(err)))
		}
	}
	if len(dead) > 1 {
		dead[0].Message += fmt.Sprintf(" (%d more links here lead nowhere)", len(dead)-1)
	}
	if len(dead) > 0 {
		out.note(dead[0])
	}
	if len(missed) > 0 {
		out.note(s.Diagnostic(skillmd.Warning, CodeLink, Below(dir, missed[0]),
			fmt.Sprintf("links to directories and out of the root are not followed here (%d, the first to %s); name the target as a place of skills, or put a copy here", len(missed), s.target(Below(dir, missed[0])))))
	}
}

// target returns the text of a link.
func (s *Scanner) target(link string) string {
	var target string
	var err error
	switch t := s.Tree.(type) {
	case *DirTree:
		target, err = t.root.Readlink(filepath.FromSlash(link))
	case *FSTree:
		target, err = fs.ReadLink(t.FS, link)
	}
	if err != nil || target == "" {
		return "an unknown place"
	}
	return Printable(target)
}

// read reads one candidate for the SKILL.md of dir. If it cannot be used, read returns nil and
// adds a finding to out.
func (s *Scanner) read(dir string, entry fs.DirEntry, out *dirContent) *Found {
	file := Below(dir, entry.Name())
	exact := entry.Name() == SkillFile
	if !exact && !s.acceptsName(entry.Name()) {
		if !entry.IsDir() {
			out.note(s.Diagnostic(skillmd.Error, CodeFileName, file, "ignored: the file must be called "+SkillFile))
		}
		return nil
	}
	rec, err := s.record(dir, file, entry, s.agentFile(dir, out.subdirs))
	if err != nil {
		if !exact && entry.IsDir() {
			return nil // a folder that happens to be called "skill.md"
		}
		out.note(s.Diagnostic(skillmd.Error, CodeUnreadable, file, "cannot be read: "+whyUnreadable(entry, err)))
		return nil
	}
	if rec.Usable && !exact && s.Config.Mode == skillmd.Lenient {
		out.note(s.Diagnostic(skillmd.Warning, CodeFileName, file, "should be called "+SkillFile))
	}
	if !s.Heads {
		out.diagnostics = append(out.diagnostics, rec.Diagnostics...)
	}
	return &Found{Dir: dir, File: file, Record: rec}
}

// whyUnreadable says why a SKILL.md cannot be read.
func whyUnreadable(entry fs.DirEntry, err error) string {
	err = Cause(err)
	if entry.Type()&fs.ModeSymlink != 0 {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "the link leads nowhere"
		case errors.Is(err, ErrPath):
			return "the link leaves the root"
		}
	}
	return err.Error()
}

// acceptsName reports whether the mode accepts this other spelling of SKILL.md.
func (s *Scanner) acceptsName(name string) bool {
	switch s.Config.Mode {
	case skillmd.Lenient:
		return true
	case skillmd.SkillsRef:
		return name == strings.ToLower(SkillFile)
	}
	return false
}

// DirNameOf returns the base name of a skill's directory, which the name of the skill must match.
// dir is its path in the tree, and root the name of the tree's own directory.
func DirNameOf(dir, root string) string {
	if dir == "." {
		return root
	}
	return path.Base(dir)
}

func (out *dirContent) note(d skillmd.Diagnostic) { out.diagnostics = append(out.diagnostics, d) }

// Stamp holds the size, the modification time and the identity of a file when it was read. While
// it holds, the file need not be read again.
type Stamp struct {
	Size     int64
	Modified time.Time
	ID       plainfile.ID // device and inode, if the system has them
	Settled  bool         // the time is old enough to be trusted, see Settle
}

// NewStamp returns the stamp of a file that is read at time now.
func NewStamp(info fs.FileInfo, now time.Time) Stamp {
	mtime := info.ModTime()
	return Stamp{info.Size(), mtime, plainfile.IDOf(info), !mtime.IsZero() && now.Sub(mtime) > Settle}
}

// Holds reports whether info proves that the file has not changed. It returns false for a stamp
// that is not settled.
func (s Stamp) Holds(info fs.FileInfo) bool {
	return s.Settled && s.Size == info.Size() && s.Modified.Equal(info.ModTime()) && s.ID == plainfile.IDOf(info)
}
