package scan

import (
	"io/fs"
	"slices"

	"github.com/satchel-go/satchel/internal/text/skillneeds"
	"github.com/satchel-go/satchel/skillmd"
)

// CodeAgentFile says that agents/openai.yaml of a skill, or a part of it, cannot be read.
const CodeAgentFile skillmd.Code = "agent-file"

// agentFile describes the file agents/openai.yaml of a skill, nil for none. subdirs are the folders
// of the skill. A source has only the front matter of its skills, so it has none.
func (s *Scanner) agentFile(dir string, subdirs []string) fs.FileInfo {
	if s.Heads || !slices.Contains(subdirs, Below(dir, "agents")) {
		return nil
	}
	info, err := s.Tree.Stat(Below(dir, skillneeds.AgentFile))
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return info
}

// holdsAgent reports whether agents/openai.yaml has not changed since the record was made. info is
// nil if there is none.
func (r *Record) holdsAgent(info fs.FileInfo) bool {
	if info == nil {
		return r.Agent == Stamp{}
	}
	return r.Agent.Holds(info)
}

// readAgentFile adds what agents/openai.yaml says to the record of a skill.
func (s *Scanner) readAgentFile(dir string, rec *Record) {
	file := Below(dir, skillneeds.AgentFile)
	note := func(line int, message string) {
		d := s.Diagnostic(skillmd.Warning, CodeAgentFile, file, message)
		d.Line = line
		rec.Diagnostics = append(slices.Clip(rec.Diagnostics), d)
	}
	f, info, err := OpenChecked(s.Tree, file, skillneeds.MaxAgentFile)
	if err != nil {
		note(0, "cannot be read: "+Cause(err).Error())
		return
	}
	defer f.Close()
	text, err := ReadAll(f, info.Size(), skillneeds.MaxAgentFile)
	if err != nil {
		note(0, "cannot be read: "+Cause(err).Error())
		return
	}
	rec.Agent = NewStamp(info, s.Now)
	needs, problems := skillneeds.ReadAgentFile(text)
	for _, p := range problems {
		note(p.Line, p.Message)
	}
	rec.Skill.Needs = skillneeds.Join(rec.Skill.Needs, needs)
	hides, problems := skillneeds.HidesFromModel(text)
	for _, p := range problems {
		note(p.Line, p.Message)
	}
	rec.Skill.Hidden = rec.Skill.Hidden || hides
}
