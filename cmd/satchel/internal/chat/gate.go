package chat

import (
	"context"
	"strings"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
)

// GateFlags are the flags about which calls may be made.
type GateFlags struct {
	Policy  permission.Policy  `default:"restrict" placeholder:"NAME" help:"What the allowed-tools of loaded skills mean: restrict (of the tools that lists speak of, only listed ones may be called), restrict-all (only listed tools may be called), preapprove (they need no question) or off (default ${default})."`
	Combine permission.Combine `default:"union" placeholder:"HOW" help:"How the lists of several loaded skills are taken together: union (any may allow a call), intersection (each must) or latest (default ${default}). Under union and latest a run is judged by the list of its own skill."`
	Approve string             `enum:"ask,always,never" default:"always" placeholder:"HOW" help:"What happens with calls that no list grants or denies: ${enum} (default ${default})."`

	// input reads prompts, and approver answers questions. Both are nil in a demo.
	input    *typist `kong:"-"`
	approver *person `kong:"-"`
	// Remote reports that some skills come from servers. While the text of such a skill is in the
	// prompt, the runtime asks for approval of every run.
	Remote bool `kong:"-"`
}

// options returns the options of the runtime. asksEdits reports that a person can be asked about
// edits of skills.
func (f *GateFlags) options(show *reporter, asksEdits bool) []satchel.Option {
	opts := []satchel.Option{satchel.WithPermissions(satchel.Permissions{Policy: f.Policy, Combine: f.Combine})}
	switch f.Approve {
	case "never":
		opts = append(opts, satchel.WithApprover(func(context.Context, core.Ask) (core.Answer, error) {
			return core.AnswerDeny, nil
		}))
	case "ask":
		opts = append(opts, satchel.WithApprover((&asker{person: f.approver, show: show}).approve))
	case "always":
		switch {
		case asksEdits:
			opts = append(opts, satchel.WithApprover((&asker{person: f.approver, show: show}).approveEdits))
		case f.Remote:
			opts = append(opts, satchel.WithApprover(alwaysRuns))
		}
	}
	return opts
}

// alwaysRuns approves calls, as --approve always says, and no edits of skills.
func alwaysRuns(_ context.Context, ask core.Ask) (core.Answer, error) {
	if ask.Detail != "" {
		return core.AnswerDeny, nil
	}
	return core.AnswerAllow, nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// decisions maps events of the gate to their names in --json.
var decisions = map[core.EventKind]string{core.ToolAllowed: "allowed", core.ToolAsked: "asked", core.ToolDenied: "denied"}

// Happened shows decisions of the gate and phases of skills. It leaves out calls that were allowed
// without a rule and without a question. It passes all events to the log of requests.
func (r *reporter) Happened(_ context.Context, e core.Event) {
	r.log.event(e)
	r.forked(e)
	if e.Phase != "" && !r.lifecycle {
		return
	}
	if e.Phase != "" || e.Kind == core.ContentBudget || e.Kind == core.SkillNeeds {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.line(event{Event: string(e.Kind), Phase: &e.Phase, Skill: &e.Skill, Detail: &e.Detail, Fork: forkOf(e)})
		return
	}
	decision, ok := decisions[e.Kind]
	if !ok || e.Kind == core.ToolAllowed && e.Rule == "" && !strings.HasPrefix(e.Detail, "approved") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(event{
		Event: "decision", ID: &e.Call.ID, Name: &e.Call.Name, Decision: &decision, Skill: &e.Skill, Rule: &e.Rule, Reason: &e.Detail, Fork: forkOf(e),
	})
	r.endLine()
	by := e.Detail
	if e.Rule != "" {
		by += ": " + e.Rule + " of " + e.Skill
	}
	r.note("gate    %s %s (%s)", decision, e.Call.Name, by)
}
