package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Session is a scripted conversation.
type Session struct {
	Name string `json:"name"`
	// Kind is desk, switch or docs.
	Kind string `json:"kind"`
	// Names is how many prompts name what they need: none, half or most.
	Names string `json:"names,omitempty"`
	// Files are written into the agent's working directory first, by path.
	Files map[string]string `json:"files,omitempty"`
	Turns []Turn            `json:"turns"`
}

// Turn is one prompt and the steps of the model after it.
type Turn struct {
	User  string `json:"user"`
	Steps []Step `json:"steps"`
}

// Step is one of four: a skill that the model uses, docs of a skill, a command of the host, or
// the answer that ends the turn.
type Step struct {
	Skill string   `json:"skill,omitempty"`
	Docs  []string `json:"docs,omitempty"`
	// Of is the skill of Docs or Run.
	Of string `json:"of,omitempty"`
	// Sections are the headings that the policy sections reads of each of Docs.
	Sections []string `json:"sections,omitempty"`
	Run      string   `json:"run,omitempty"`
	Say      string   `json:"say,omitempty"`
}

// readSessions reads the files of a directory that end in .json, sorted by name.
func readSessions(dir string) ([]*Session, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no session in %s: want files that end in .json", dir)
	}
	var all []*Session
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		s := new(Session)
		if err = json.Unmarshal(data, s); err == nil {
			err = s.check()
		}
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", file, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// check reports what a player could not play.
func (s *Session) check() error {
	if s.Name == "" || len(s.Turns) == 0 {
		return errors.New("want a name and turns")
	}
	for i, t := range s.Turns {
		if len(t.Steps) == 0 || t.Steps[len(t.Steps)-1].Say == "" {
			return fmt.Errorf(`turn %d: want a last step with "say"`, i+1)
		}
		for j, step := range t.Steps {
			kinds := 0
			for _, isSet := range []bool{step.Skill != "", len(step.Docs) > 0, step.Run != "", step.Say != ""} {
				if isSet {
					kinds++
				}
			}
			if kinds != 1 || (len(step.Docs) > 0 && step.Of == "") {
				return fmt.Errorf(`turn %d, step %d: want one of "skill", "docs" with "of", "run" and "say"`, i+1, j+1)
			}
		}
		for j, other := range s.Turns {
			if i != j && strings.Contains(other.User, t.User) {
				return fmt.Errorf("turn %d: its prompt is a part of that of turn %d; want prompts that differ", i+1, j+1)
			}
		}
	}
	return nil
}

// lacking returns the skills and docs of the session that dir does not have.
func (s *Session) lacking(dir string) []string {
	var all []string
	for _, t := range s.Turns {
		for _, step := range t.Steps {
			files := []string{}
			if step.Skill != "" {
				files = append(files, step.Skill+"/SKILL.md")
			}
			for _, doc := range step.Docs {
				files = append(files, step.Of+"/"+doc)
			}
			for _, file := range files {
				if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(file))); err != nil && !slices.Contains(all, file) {
					all = append(all, file)
				}
			}
		}
	}
	return all
}
