package catalog

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

// headBytes is how much of a SKILL.md is read at first. Nearly all front matter is
// shorter. The rest of the file is read when the skill is loaded.
const headBytes = 8 << 10

// record is what the catalog keeps of one SKILL.md.
type record struct {
	stamp       stamp
	skill       core.Skill
	diagnostics []skillmd.Diagnostic
	usable      bool // skill is one
	// closed reports that the file is meant to be a skill, perhaps a broken one, so
	// what is below it belongs to it. A SKILL.md without front matter claims
	// nothing below it.
	closed bool
	head   []byte // only where the scanner keeps it
}

// record parses the head of a SKILL.md, or returns what is known of it if the file
// has not changed.
func (s *scanner) record(dir, file string, entry fs.DirEntry) (record, error) {
	known, seen := s.known[file]
	if seen || !entry.Type().IsRegular() {
		info, err := s.tree.stat(file)
		if err != nil {
			return record{}, err
		}
		if seen && known.stamp.holds(info) {
			s.kept.Add(1)
			return known, nil
		}
		if err := checkRegular(info, s.cfg.maxFileBytes); err != nil {
			return record{}, err
		}
	}
	f, info, err := openSeen(s.tree, file, s.cfg.maxFileBytes)
	if err != nil {
		return record{}, err
	}
	defer f.Close()
	head, err := readHead(f, s.cfg.maxFileBytes)
	if err != nil {
		return record{}, err
	}
	rec := s.parse(dir, file, head)
	rec.stamp = newStamp(info, s.now)
	if s.heads {
		rec.head = head
	}
	return rec, nil
}

// parse makes a record of the head of a SKILL.md.
func (s *scanner) parse(dir, file string, head []byte) record {
	location := s.location(file)
	doc, diagnostics, err := skillmd.Parse(head, parseOptions(s.cfg.mode, s.dirNameOf(dir), location)...)
	rec := record{diagnostics: slices.Clip(diagnostics)}
	if err != nil {
		rec.closed = !errors.Is(err, skillmd.ErrNotSkill)
		if len(diagnostics) == 0 {
			rec.diagnostics = []skillmd.Diagnostic{s.diagnostic(skillmd.Error, CodeUnreadable, file, err.Error())}
		}
		if !rec.closed { // what is no skill to package skillmd is one that is missing here
			rec.diagnostics = slices.Clone(rec.diagnostics)
			for i := range rec.diagnostics {
				rec.diagnostics[i].Severity = skillmd.Error
			}
		}
		return rec
	}
	rec.usable, rec.closed = true, true
	rec.skill = doc.Skill
	rec.skill.Place = location
	rec.skill.Location = location
	if s.base != "" {
		rec.skill.Location = filepath.Join(s.base, filepath.FromSlash(file))
		rec.skill.RootDir = filepath.Dir(rec.skill.Location)
	}
	rec.skill.Version, rec.skill.Tags, rec.skill.UserInvocable = doc.Version(), doc.Tags(), doc.UserInvocable
	return rec
}

// parseOptions tells skillmd where a file is. A directory without a name is left
// out.
func parseOptions(mode skillmd.Mode, dirName, location string) []skillmd.Option {
	opts := []skillmd.Option{skillmd.WithMode(mode), skillmd.WithFile(location)}
	if dirName != "" {
		opts = append(opts, skillmd.WithDirName(strings.ToValidUTF8(dirName, "\uFFFD")))
	}
	return opts
}

// readHead reads a SKILL.md up to the end of its front matter, or all of it if the
// front matter has no end.
func readHead(f fs.File, limit int64) ([]byte, error) {
	buf := make([]byte, headBytes)
	for have := 0; ; {
		n, err := io.ReadFull(f, buf[have:])
		have += n
		atEnd := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !atEnd {
			return nil, err
		}
		if int64(have) > limit {
			return nil, tooLarge(limit)
		}
		head := buf[:have]
		if end := skillmd.FrontMatterEnd(head); end >= 0 {
			return head[:end], nil
		}
		if atEnd {
			return head, nil
		}
		buf = append(buf, make([]byte, 3*len(buf))...)
	}
}
