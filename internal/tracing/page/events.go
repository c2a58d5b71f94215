package page

import (
	"cmp"
	"slices"

	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// eventFields is a line about a call, without its head but for the event. Fields that an event does
// not have are left out.
type eventFields struct {
	Event      string           `json:"event"`
	ID         string           `json:"id,omitempty"`
	Skill      string           `json:"skill,omitempty"`
	Doc        string           `json:"doc,omitempty"`
	By         string           `json:"by,omitempty"`
	Why        string           `json:"why,omitempty"`
	How        string           `json:"how,omitempty"`
	Name       string           `json:"name,omitempty"`
	Near       []string         `json:"near,omitempty"`
	Tokens     int              `json:"tokens,omitempty"`
	Skills     []string         `json:"skills,omitempty"`
	Named      []string         `json:"named,omitempty"`
	Cut        int              `json:"cut,omitempty"`
	Decision   string           `json:"decision,omitempty"`
	Rule       string           `json:"rule,omitempty"`
	Reason     string           `json:"reason,omitempty"`
	Approved   bool             `json:"approved,omitempty"`
	Command    string           `json:"command,omitempty"`
	ExitCode   *int             `json:"exit_code,omitempty"`
	TimedOut   bool             `json:"timed_out,omitempty"`
	MS         int64            `json:"ms,omitempty"`
	Files      []line.File      `json:"files,omitempty"`
	Limits     map[string]int64 `json:"limits,omitempty"`
	Message    *int             `json:"message,omitempty"`
	LostTokens *int             `json:"lost_tokens,omitempty"`
	Cause      string           `json:"cause,omitempty"`

	head *line.Head
}

// eventsOf returns the lines about a call in the order in which they were written.
func eventsOf(e *tracelog.Events) []eventFields {
	all := []eventFields{}
	for _, l := range e.Offered {
		all = append(all, eventFields{head: &l.Head, Skills: l.Skills, Named: l.Named, Cut: l.Cut})
	}
	for _, l := range e.Suggested {
		all = append(all, eventFields{head: &l.Head, Skills: l.Skills})
	}
	for _, l := range e.Loaded {
		all = append(all, eventFields{head: &l.Head, ID: l.ID, Skill: l.Skill, Tokens: l.Tokens, By: l.By})
	}
	for _, l := range e.Unloaded {
		all = append(all, eventFields{head: &l.Head, Skill: l.Skill, Why: l.Why})
	}
	for _, l := range e.Cleared {
		all = append(all, eventFields{head: &l.Head, Skill: l.Skill, Doc: l.Doc, Why: l.Why})
	}
	for _, l := range e.Decisions {
		all = append(all, eventFields{head: &l.Head, ID: l.ID, Name: l.Name, Decision: l.Decision, Skill: l.Skill, Rule: l.Rule, Reason: l.Reason})
	}
	for _, l := range e.Approvals {
		all = append(all, eventFields{head: &l.Head, ID: l.ID, Name: l.Name, Approved: l.Approved, Reason: l.Reason})
	}
	for _, l := range e.Runs {
		all = append(all, eventFields{
			head: &l.Head, ID: l.ID, Skill: l.Skill, Command: l.Command, ExitCode: &l.ExitCode, TimedOut: l.TimedOut, MS: l.MS, Files: l.Files, Limits: l.Limits,
		})
	}
	for _, l := range e.Used {
		all = append(all, eventFields{head: &l.Head, ID: l.ID, Skill: l.Skill, How: l.How})
	}
	for _, l := range e.NotFound {
		all = append(all, eventFields{head: &l.Head, ID: l.ID, Name: l.Name, Near: l.Near})
	}
	for _, l := range e.Breaks {
		all = append(all, eventFields{head: &l.Head, Message: &l.Message, LostTokens: &l.LostTokens, Cause: l.Cause})
	}
	for i := range all {
		all[i].Event = all[i].head.Event
	}
	slices.SortStableFunc(all, func(a, b eventFields) int { return cmp.Compare(a.head.Seq, b.head.Seq) })
	return all
}
