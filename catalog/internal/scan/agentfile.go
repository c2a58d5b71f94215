package scan

import (
	"io/fs"
	"slices"

	"github.com/satchel-go/satchel/internal/text/skillneeds"
	"github.com/satchel-go/satchel/skillmd"
)

// CodeAgentFile says that agents/openai.yaml of a skill, or a part of it, cannot be read.
const CodeAgentFile skillmd.Code = "agent-file"

// AgentFile is the path of agents/openai.yaml in the folder of a skill.
const AgentFile = skillneeds.AgentFile

// agentFile describes the file agents/openai.yaml of a skill, nil for none. subdirs are the folders
// of the skill. A source lists the file, and the catalog reads it.
func (s *Scanner) agentFile(dir string, subdirs []string) fs.FileInfo {
	if s.Heads || !slices.Contains(subdirs, Below(dir, "agents")) {
		return nil
	}
	info, err := s.Tree.Stat(Below(dir, AgentFile))
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

// ReadAgentFile adds what the file agents/openai.yaml in a directory of the tree says to the record
// of a skill. Findings name it below the directory shown.
func (s *Scanner) ReadAgentFile(dir, shown string, rec *Record) {
	file := Below(dir, AgentFile)
	note := func(line int, message string) {
		d := s.Diagnostic(skillmd.Warning, CodeAgentFile, Below(shown, AgentFile), message)
		d.Line = line
		rec.Diagnostics = append(slices.Clip(rec.Diagnostics), d)
	}
	f, info, err := OpenRegular(s.Tree, file, skillneeds.MaxAgentFile)
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
