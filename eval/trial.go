package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/core"
)

// Trial is one conversation that Options.Play plays.
type Trial struct {
	// Query is what is asked in mode Trigger, and Eval in mode Outcome; the other is nil.
	Query *Query
	Eval  *Eval
	// Number counts the trials of the same query or eval, from 1.
	Number int
	// Without reports that the conversation has no access to the skill.
	Without bool
	// Loaded reports that the conversation begins with the skill loaded, as a user loads it. The model
	// does not see such a skill.
	Loaded bool
	// Inputs are the files of the eval, which the conversation has in work/inputs.
	Inputs []Input
}

// Input is a file of an eval.
type Input struct {
	Name string // without directories
	Data []byte
}

// Prompt returns what the user writes.
func (t Trial) Prompt() string {
	if t.Query != nil {
		return t.Query.Query
	}
	return t.Eval.Prompt
}

// Skill returns the name of the skill that the trial is about.
func (t Trial) Skill() string {
	if t.Query != nil {
		return t.Query.Skill
	}
	return t.Eval.Skill
}

// Name names the trial. It is the same in each run of the same suite, and it can be the name of a
// file.
func (t Trial) Name() string {
	mode, asked := "trigger", any(struct {
		Skill, Query string
		Should       bool
	}{t.Skill(), t.Prompt(), t.Query != nil && t.Query.ShouldTrigger})
	if t.Eval != nil {
		mode = "with"
		if t.Without {
			mode = "without"
		}
		e := *t.Eval
		e.From = ""
		asked = e
	}
	text, _ := json.Marshal(asked) //nolint:errchkjson // texts and booleans
	digest := sha256.Sum256(text)
	return mode + "-" + fileName(t.Skill()) + "-" + hex.EncodeToString(digest[:6]) + "-" + strconv.Itoa(t.Number)
}

// fileName returns a text of which a file can be named, shortened.
func fileName(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '-'
	}, text)
	return text[:min(len(text), maxNamePart)]
}

// Played is what came of a conversation, also of one that failed.
type Played struct {
	// Answer is the last message of the model.
	Answer string
	// Loaded are the names of the skills that the model has loaded in the first turn.
	Loaded []string
	// ExitCode is that of the last command, or nil if none ran.
	ExitCode *int
	// Workspace is the directory with what the conversation has left, or "". End, if set, removes it.
	// Run calls End after the checks.
	Workspace string
	End       func() error
	// Requests and Usage are the model calls of the conversation.
	Requests int
	Usage    core.Usage
	// Trace is the address of the conversation in a page of traces, or "".
	Trace string
}

// result is what is kept of a trial. It is a line of Options.State.
type result struct {
	Trial    string    `json:"trial"`
	Loaded   []string  `json:"loaded,omitempty"`
	Verdicts []verdict `json:"verdicts,omitempty"` // by the assertions of the eval
	MS       float64   `json:"ms"`
	usage
	Judge usage  `json:"judge,omitzero"`
	Trace string `json:"trace,omitempty"`
	// err is why the conversation failed, and lacksJudge reports that a judge did. Such a trial is not
	// kept.
	err        error
	lacksJudge bool
}

// usage counts model calls and their tokens.
type usage struct {
	Requests   int `json:"requests"`
	Prompt     int `json:"prompt_tokens"`
	Cached     int `json:"cached_tokens"`
	Completion int `json:"completion_tokens"`
}

func usageOf(p Played) usage {
	return usage{p.Requests, p.Usage.Prompt, p.Usage.Cached, p.Usage.Completion}
}

func (u usage) plus(v usage) usage {
	return usage{u.Requests + v.Requests, u.Prompt + v.Prompt, u.Cached + v.Cached, u.Completion + v.Completion}
}

// verdict is what was found of an assertion. Passed is nil if there is no verdict.
type verdict struct {
	Passed   *bool  `json:"passed"`
	Evidence string `json:"evidence"`

	isError bool // the judge has failed
}

// player plays the conversation of a trial and returns what is kept of it.
type player func(ctx context.Context, t Trial) *result
