package satchel

import (
	"fmt"
	"os"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/warnlog"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/skillmd"
	"github.com/satchel-go/satchel/tools"
)

// newConfig applies opts, the extensions, and then the defaults.
func newConfig(opts []Option) (config, error) {
	s := config{
		passed:  map[string]bool{},
		store:   session.NewMemory(),
		choices: call.Choices{Profile: tools.Full},
		logger:  warnlog.New(),
	}
	if err := Options(opts...)(&s); err != nil {
		return s, err
	}
	if s.hostCatalog != nil && len(s.roots)+len(s.catalogOptions) > 0 {
		return s, fmt.Errorf("%w: WithCatalog excludes WithSkillDirs, WithSkillFS and WithSkillRoots", ErrOption)
	}
	if err := s.addExtensions(); err != nil {
		return s, err
	}
	for tool := range s.toolSkills {
		if s.choices.IsOwn(tool) {
			return s, fmt.Errorf("%w: WithPermissions: ToolSkills: %q is a tool of Satchel itself; name tools of the host", ErrOption, tool)
		}
	}
	s.addDefaults()
	return s, nil
}

// addDefaults sets the values that the host left at zero.
func (s *config) addDefaults() {
	l := &s.loading
	s.budget = tools.Budget{Warn: orDefault(l.Budget.Warn, defaultWarnTokens), Max: orDefault(l.Budget.Max, defaultMaxTokens)}
	l.Max = orDefault(l.Max, loadmode.DefaultMax)
	if l.Prices == (loadmode.Prices{}) {
		l.Prices = loadmode.DefaultPrices()
	}
	v := s.choices.Vocabulary
	if s.judge.Home == "" {
		s.judge.Home, _ = os.UserHomeDir() // without one, "~" is just a name
	}
	switch {
	case l.Mode != 0:
	case v != nil && v.ForSession:
		l.Mode = loadmode.Session
	case l.Clearing != (loadmode.CachePolicy{}):
		l.Mode = loadmode.Turn
	default:
		l.Mode = loadmode.Adaptive
	}
	switch {
	case l.Placement != 0:
	case v != nil && v.InSystem:
		l.Placement = processors.InSystem
	default:
		l.Placement = processors.InToolResult
	}
}

// orDefault returns standard if n is 0, and 0 if n is negative, which means none. Else it
// returns n.
func orDefault(n, standard int) int {
	if n == 0 {
		return standard
	}
	return max(n, 0)
}

// checkForks returns an error if WithFork names a skill that does not exist.
func (s *config) checkForks(skills *catalog.Snapshot) error {
	if s.fork == nil {
		return nil
	}
	for _, name := range s.fork.Skills {
		if _, err := skills.Resolve(name); err != nil {
			return fmt.Errorf("%w: WithFork: Skills: %w", ErrOption, err)
		}
	}
	return nil
}

// codeForkIgnored is the code of the diagnostic that skills ask to run as agents of their own.
const codeForkIgnored skillmd.Code = "fork-ignored"

// forkDiagnostics returns the diagnostic about skills that ask to run as agents of their own, if the
// host does not use WithFork.
func (s *config) forkDiagnostics(skills *catalog.Snapshot) []skillmd.Diagnostic {
	if s.fork != nil {
		return nil
	}
	var names []string
	for _, skill := range skills.Skills() {
		if call.AsksToFork(skill) {
			names = append(names, skill.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	more := ""
	if n := len(names) - maxForkNames; n > 0 {
		names, more = names[:maxForkNames], fmt.Sprintf(" and %d more", n)
	}
	text := fmt.Sprintf("context: fork is ignored, because the host runs no skill as an agent of its own: %s%s", strings.Join(names, ", "), more)
	return []skillmd.Diagnostic{{Code: codeForkIgnored, Severity: skillmd.Warning, Message: text}}
}
