package eval

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/collect"
)

// errAssertion reports an assertion that begins like a check and is none.
var errAssertion = errors.New("invalid assertion")

// subject is what a conversation has left.
type subject struct {
	// Dir is the absolute path of the workspace, or "" if there is none.
	Dir string
	// Answer is the last message of the model.
	Answer string
	// ExitCode is that of the last command, or nil if none ran.
	ExitCode *int
	// SkillDir is the folder of the skill, or "" if it is in no directory. Executor runs its
	// scripts. A nil Executor runs none.
	SkillDir string
	Executor executor.Executor
}

// finding says whether an assertion holds, and why.
type finding struct {
	Passed   bool
	Evidence string
}

// check is an assertion that is decided without a model.
type check interface {
	// Run decides the assertion. The error is that of ctx or of the executor. Everything else is a
	// verdict.
	Run(ctx context.Context, s subject) (finding, error)
}

// parseAssertion returns the check that an assertion means, or nil for a sentence. The error wraps
// errAssertion.
func parseAssertion(assertion string) (check, error) {
	kind, rest, found := strings.Cut(strings.TrimSpace(assertion), ":")
	if !found {
		return nil, nil
	}
	parse := parsers[kind]
	if parse == nil || strings.HasPrefix(rest, " ") { // "file: ..." is a sentence about a file
		return nil, nil
	}
	c, err := parse(rest)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", errAssertion, assertion, err)
	}
	return c, nil
}

// parsers maps the words before the colon to the functions that read the rest.
var parsers = map[string]func(string) (check, error){
	"file": parseFile, "json": parseJSON, "regex": parsePattern, "exit": parseExit, "script": parseScript,
}

// fileCheck holds if a file of the workspace matches a glob.
type fileCheck struct{ glob string }

func parseFile(glob string) (check, error) {
	if err := (collect.Spec{Globs: []string{glob}}).Check(); err != nil {
		return nil, err
	}
	return fileCheck{glob}, nil
}

// pattern holds if an answer matches a regular expression.
type pattern struct{ *regexp.Regexp }

func parsePattern(text string) (check, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return pattern{re}, nil
}

// Run implements [check].
func (p pattern) Run(_ context.Context, s subject) (finding, error) {
	if at := p.FindStringIndex(s.Answer); at != nil {
		return finding{true, "the answer has " + quote(s.Answer[at[0]:at[1]])}, nil
	}
	return finding{false, "the answer has no match: " + quote(s.Answer)}, nil
}

// exitCheck holds if the last command has ended with an exit code.
type exitCheck struct{ code int }

func parseExit(text string) (check, error) {
	code, err := strconv.Atoi(text)
	if err != nil || code < 0 || code > maxExitCode {
		return nil, fmt.Errorf("want an exit code from 0 to %d", maxExitCode)
	}
	return exitCheck{code}, nil
}

// Run implements [check].
func (e exitCheck) Run(_ context.Context, s subject) (finding, error) {
	if s.ExitCode == nil {
		return finding{false, "no command ran"}, nil
	}
	return finding{*s.ExitCode == e.code, fmt.Sprintf("the last command ended with exit code %d", *s.ExitCode)}, nil
}

// quote returns the beginning of a text in quotation marks.
func quote(text string) string {
	if len(text) <= maxQuoted {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.ToValidUTF8(text[:maxQuoted], "")) + "…"
}
