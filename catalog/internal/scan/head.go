package scan

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/skillargs"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// Record holds the parsed front matter of one SKILL.md.
type Record struct {
	Stamp       Stamp
	Skill       core.Skill
	Diagnostics []skillmd.Diagnostic
	Usable      bool // the file is a usable skill
	// OwnsFolder reports that the file is meant to be a skill, perhaps a broken one, so
	// what is below it belongs to it. A SKILL.md without front matter claims
	// nothing below it.
	OwnsFolder bool
	// Agent is the stamp of agents/openai.yaml, zero for none.
	Agent Stamp
	Head  []byte // the beginning of the file, if Scanner.Heads is set
}

// record parses the head of a SKILL.md, or returns the record in Known if the file has not
// changed. agent describes the skill's agents/openai.yaml, nil for none.
func (s *Scanner) record(dir, file string, entry fs.DirEntry, agent fs.FileInfo) (Record, error) {
	known, seen := s.Known[file]
	if seen || !entry.Type().IsRegular() {
		info, err := s.Tree.Stat(file)
		if err != nil {
			return Record{}, err
		}
		if seen && known.Stamp.Holds(info) && known.holdsAgent(agent) {
			s.unchanged.Add(1)
			return *known, nil
		}
		if err := CheckRegular(info, s.Config.MaxFileBytes); err != nil {
			return Record{}, err
		}
	}
	rec, err := s.readSkill(dir, file, file)
	if err == nil && agent != nil && rec.Usable {
		s.ReadAgentFile(dir, dir, &rec)
	}
	return rec, err
}

// readSkill reads a SKILL.md. Locations and findings name it as the path shown.
func (s *Scanner) readSkill(dir, file, shown string) (Record, error) {
	f, info, err := OpenChecked(s.Tree, file, s.Config.MaxFileBytes)
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	head, body, err := readHead(f, s.Config.MaxFileBytes)
	if err != nil {
		return Record{}, err
	}
	rec := s.Parse(dir, shown, head)
	if rec.Usable && !rec.Skill.TakesArguments {
		if rec.Skill.TakesArguments, err = usesArguments(body, f); err != nil {
			return Record{}, err
		}
	}
	rec.Stamp = NewStamp(info, s.Now)
	if s.Heads {
		rec.Head = head
	}
	return rec, nil
}

// ReadTree reads the skill whose folder is the tree: its SKILL.md and its agents/openai.yaml.
// Locations and findings name its files below the folder shown.
func (s *Scanner) ReadTree(file, shown string) (Record, error) {
	rec, err := s.readSkill(".", file, path.Join(shown, file))
	if err != nil || !rec.Usable {
		return rec, err
	}
	if info, err := s.Tree.Stat(AgentFile); err == nil && info.Mode().IsRegular() {
		s.ReadAgentFile(".", shown, &rec)
	}
	return rec, nil
}

// Parse parses the head of a SKILL.md into a record without a stamp.
func (s *Scanner) Parse(dir, file string, head []byte) Record {
	location := s.location(file)
	doc, diagnostics, err := skillmd.Parse(head, ParseOptions(s.Config.Mode, DirNameOf(dir, s.DirName), location)...)
	rec := Record{Diagnostics: slices.Clip(diagnostics)}
	if err != nil {
		rec.OwnsFolder = !errors.Is(err, skillmd.ErrNotSkill)
		if len(diagnostics) == 0 {
			rec.Diagnostics = []skillmd.Diagnostic{s.Diagnostic(skillmd.Error, CodeUnreadable, file, err.Error())}
		}
		if !rec.OwnsFolder { // skillmd warns about it; a catalog misses a skill, which is an error
			rec.Diagnostics = slices.Clone(rec.Diagnostics)
			for i := range rec.Diagnostics {
				rec.Diagnostics[i].Severity = skillmd.Error
			}
		}
		return rec
	}
	rec.Usable, rec.OwnsFolder = true, true
	rec.Skill = doc.Skill
	rec.Skill.Place = location
	rec.Skill.Location = location
	if s.Base != "" {
		rec.Skill.Location = filepath.Join(s.Base, filepath.FromSlash(file))
		rec.Skill.RootDir = filepath.Dir(rec.Skill.Location)
	}
	rec.Skill.Version, rec.Skill.Tags, rec.Skill.UserInvocable = doc.Version(), doc.Tags(), doc.UserInvocable
	rec.Skill.Context, rec.Skill.Agent, rec.Skill.Model = doc.Field("context"), doc.Field("agent"), doc.Field("model")
	AddArguments(&rec.Skill, &doc)
	return rec
}

// AddArguments sets the fields of a skill about arguments. They come from the front matter and from
// the part of the body that doc has.
func AddArguments(skill *core.Skill, doc *skillmd.Document) {
	skill.Arguments, skill.ArgumentHint = doc.Arguments(), doc.ArgumentHint()
	skill.TakesArguments = len(skill.Arguments) > 0 || skill.ArgumentHint != "" || strings.Contains(doc.Body, "$") && skillargs.Uses(doc.Body)
}

// ParseOptions returns the options for skillmd. An empty dirName means that the directory has no
// name.
func ParseOptions(mode skillmd.Mode, dirName, location string) []skillmd.Option {
	opts := []skillmd.Option{skillmd.WithMode(mode), skillmd.WithFile(location)}
	if dirName != "" {
		opts = append(opts, skillmd.WithDirName(strings.ToValidUTF8(dirName, "\uFFFD")))
	}
	return opts
}

// ReadHead reads a SKILL.md up to the end of its front matter, or all of it if the
// front matter has no end.
func ReadHead(f fs.File, limit int64) ([]byte, error) {
	head, _, err := readHead(f, limit)
	return head, err
}

// readHead is ReadHead, and body is what was read behind the front matter.
func readHead(f fs.File, limit int64) (head, body []byte, err error) {
	buf := make([]byte, headBytes)
	for have := 0; ; {
		n, err := io.ReadFull(f, buf[have:])
		have += n
		atEnd := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !atEnd {
			return nil, nil, err
		}
		if int64(have) > limit {
			return nil, nil, TooLarge(limit)
		}
		head = buf[:have]
		if end := skilltext.FrontMatterEnd(head); end >= 0 {
			return head[:end], head[end:], nil
		}
		if atEnd {
			return head, nil, nil
		}
		buf = append(buf, make([]byte, 3*len(buf))...)
	}
}

// searchBuffers are buffers for usesArguments.
var searchBuffers = sync.Pool{New: func() any { return new([searchBytes]byte) }}

// usesArguments reports whether a body contains "$ARGUMENTS". read is the part of the body that was
// read already, and f has the rest. It holds only a part of a long body in memory.
func usesArguments(read []byte, f io.Reader) (bool, error) {
	const placeholder = "$ARGUMENTS"
	buffer, _ := searchBuffers.Get().(*[searchBytes]byte)
	defer searchBuffers.Put(buffer)
	for window, atEnd := read, false; ; {
		searched := window
		if !atEnd { // the next window shows what follows the placeholder
			searched = bytes.TrimSuffix(window, []byte(placeholder))
		}
		if bytes.Contains(searched, []byte(placeholder)) && skillargs.Uses(string(searched)) {
			return true, nil
		}
		if atEnd {
			return false, nil
		}
		// The next window begins before a placeholder that this one has cut, with the character
		// in front of it.
		kept := copy(buffer[:], window[max(0, len(window)-len(placeholder)-1):])
		n, err := io.ReadFull(f, buffer[kept:])
		if atEnd = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !atEnd {
			return false, err
		}
		window = buffer[:kept+n]
	}
}
