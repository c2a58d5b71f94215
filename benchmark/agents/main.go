// Command agents plays scripted sessions through the agents that people use and through satchel
// chat, and prints what skills cost in each. benchmark/README.md explains its output.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

func main() {
	err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		os.Exit(1)
	}
}

// settings holds the flags.
type settings struct {
	sessions, skills, only string
	bin, satchel, args     string
	systems, policies      string
	requests, json, job    string
	with                   string
	parts, markdown        bool
}

// corpusVariable names a directory whose anthropics-skills holds more skills.
const corpusVariable = "SATCHEL_CORPUS"

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	s := settings{skills: "benchmark/skills"}
	if corpus := os.Getenv(corpusVariable); corpus != "" {
		s.skills += "," + filepath.Join(corpus, "anthropics-skills")
	}
	flags := flag.NewFlagSet("agents", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.StringVar(&s.sessions, "sessions", "benchmark/agents/sessions", "directory of the `sessions`")
	flags.StringVar(&s.only, "only", "", "play the sessions with these comma-separated `names` only")
	flags.StringVar(&s.skills, "skills", s.skills, "comma-separated `directories` of skills, which are played as one")
	flags.StringVar(&s.systems, "systems", "satchel,claude,codex,opencode", "comma-separated `systems`")
	flags.StringVar(&s.policies, "policies", strings.Join([]string{policyNeed, policyAgain, policySections}, ","), "comma-separated `policies` of the model")
	flags.StringVar(&s.bin, "bin", "", "`directory` of the agents' programs, such as node_modules/.bin")
	flags.StringVar(&s.satchel, "satchel", "", "`program` to play in place of a build of ./cmd/satchel")
	flags.StringVar(&s.args, "args", "", "more arguments for satchel chat, separated by `blanks`")
	flags.StringVar(&s.requests, "requests", "", "keep all requests below this `directory`")
	flags.StringVar(&s.json, "json", "", "write all figures and breaks to this `file`")
	flags.StringVar(&s.with, "with", "", "comma-separated `files` that -json has written: add the figures of the systems that are not played")
	flags.BoolVar(&s.markdown, "markdown", false, "print a table of Markdown, too")
	flags.BoolVar(&s.parts, "parts", false, "print what the price is made of")
	flags.StringVar(&s.job, "job", "", "play the session of this `file`, which the program has written for itself")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if s.job != "" {
		return playJob(ctx, s.job)
	}
	return s.compare(ctx, out, errs)
}

// compare plays all sessions through all systems and prints the table.
func (s *settings) compare(ctx context.Context, out, errs io.Writer) (err error) {
	note := func(format string, args ...any) { fmt.Fprintf(errs, "agents: "+format+"\n", args...) }
	scratch, err := os.MkdirTemp("", "agents-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if s.requests == "" {
		s.requests = filepath.Join(scratch, "requests")
	} else if s.requests, err = filepath.Abs(s.requests); err != nil {
		return err
	}
	skills := filepath.Join(scratch, "skills")
	for _, dir := range strings.Split(s.skills, ",") {
		if err := os.CopyFS(skills, os.DirFS(dir)); err != nil {
			return fmt.Errorf("read skills: %w", err)
		}
	}
	sessions, err := s.playable(skills, note)
	if err != nil {
		return err
	}
	alone, err := findAlone(ctx)
	if err != nil {
		return err
	}
	renderer, err := prompt.NewO200k()
	if err != nil {
		return err
	}
	programs, err := s.programs(ctx, scratch, note)
	if err != nil {
		return err
	}
	var all []*Figures
	for _, session := range sessions {
		for _, p := range programs {
			figures, err := p.measure(ctx, s, alone, skills, session, counter{renderer})
			if err != nil {
				note("%v", err)
			}
			all = append(all, figures...)
		}
	}
	if all, err = s.withFigures(all); err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("nothing was played: want at least one session and one system")
	}
	if s.json != "" {
		data, err := json.MarshalIndent(all, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(s.json, data, 0o600); err != nil {
			return err
		}
	}
	table(out, all)
	if s.parts {
		partsTable(out, all)
	}
	if s.markdown {
		markdown(out, all)
	}
	return nil
}

// withFigures adds the figures of the files of -with, of systems that were not played.
func (s *settings) withFigures(played []*Figures) ([]*Figures, error) {
	if s.with == "" {
		return played, nil
	}
	all := slices.Clone(played)
	for _, file := range strings.Split(s.with, ",") {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var more []*Figures
		if err := json.Unmarshal(data, &more); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, f := range more {
			isPlayed := slices.ContainsFunc(played, func(p *Figures) bool { return p.System == f.System })
			isCompared := slices.ContainsFunc(played, func(p *Figures) bool { return p.Session == f.Session && p.Policy == f.Policy })
			if isCompared && !isPlayed {
				all = append(all, f)
			}
		}
	}
	return all, nil
}

// playable returns the sessions whose skills are there, and notes the others.
func (s *settings) playable(skills string, note func(string, ...any)) ([]*Session, error) {
	all, err := readSessions(s.sessions)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(session *Session) bool {
		if s.only != "" && !slices.Contains(strings.Split(s.only, ","), session.Name) {
			return true
		}
		lacks := session.lacking(skills)
		if len(lacks) > 0 {
			note("session %s is left out: no %s; set -skills, or %s to a directory with the skills of github.com/anthropics/skills in anthropics-skills", session.Name, strings.Join(lacks, ", "), corpusVariable)
		}
		return len(lacks) > 0
	}), nil
}

// program is a system that was found.
type program struct {
	agent *agent
	file  string
}

// programs finds the programs of the systems, builds Satchel and notes what is missing.
func (s *settings) programs(ctx context.Context, scratch string, note func(string, ...any)) ([]program, error) {
	var found []program
	known := agents()
	for _, name := range strings.Split(s.systems, ",") {
		i := slices.IndexFunc(known, func(a *agent) bool { return a.name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown system %q: want some of satchel, claude, codex and opencode", name)
		}
		p := program{known[i], s.satchel}
		var err error
		switch {
		case p.agent.npm != "":
			p.file, err = exec.LookPath(filepath.Join(s.bin, name))
		case p.file == "":
			p.file = filepath.Join(scratch, "satchel")
			if out, err := exec.CommandContext(ctx, "go", "build", "-o", p.file, "./cmd/satchel").CombinedOutput(); err != nil { //nolint:gosec // a file of the scratch directory
				return nil, fmt.Errorf("build satchel: %w: %s", err, out)
			}
		}
		if err == nil {
			p.file, err = filepath.Abs(p.file)
		}
		var version []byte
		if err == nil {
			version, err = exec.CommandContext(ctx, p.file, "--version").Output() //nolint:gosec // the program that the flags name
		}
		if err != nil {
			note("%s is left out: %v; install %s from npm, run its install script, and set -bin", name, err, p.agent.npm)
			continue
		}
		first, _, _ := strings.Cut(strings.TrimSpace(string(version)), "\n")
		note("%s: %s", name, first)
		found = append(found, p)
	}
	return found, nil
}

// measure plays a session without skills and with each policy.
func (p program) measure(ctx context.Context, s *settings, alone alone, skills string, session *Session, c counter) ([]*Figures, error) {
	play := func(policy string) ([]request, error) {
		j := &job{
			System: p.agent.name, Session: session, Policy: policy, Program: p.file, Skills: skills,
			Dir: filepath.Join(s.requests, p.agent.name, session.Name+"."+policy), Args: strings.Fields(s.args),
		}
		if err := alone.play(ctx, j); err != nil {
			return nil, err
		}
		return readRequests(j.Dir)
	}
	bare, err := play(policyNone)
	if err != nil {
		return nil, err
	}
	texts, err := c.knownTexts(session, skills)
	if err != nil {
		return nil, err
	}
	var all []*Figures
	for _, policy := range strings.Split(s.policies, ",") {
		requests, err := play(policy)
		if err != nil {
			return all, err
		}
		f, err := c.figures(requests, bare)
		if err != nil {
			return all, fmt.Errorf("%s, %s, policy %s: %w", p.agent.name, session.Name, policy, err)
		}
		if f.Parts, err = c.withoutHost(requests, bare, texts); err != nil {
			return all, err
		}
		f.Session, f.Kind, f.Policy, f.System = session.Name, session.Kind, policy, p.agent.name
		all = append(all, f)
	}
	return all, nil
}
