// Package judging decides by the allowed-tools of loaded skills whether an agent may call a
// tool. [Parse] reads a list, and [Names] knows what tools are called in lists. A [Judge]
// compares a request, which is what rules can see of a call, with the lists of the loaded
// skills. The package runs nothing and asks no one.
//
// A pattern such as Bash(git:*) bounds which programs a command starts, and with which
// first words. It does not bound what such a program does: git has options that run other
// programs, and python3 runs anything.
package judging

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/permission"
)

// List is the allowed-tools list of one loaded skill.
type List struct {
	Skill string
	Rules []Rule
	// NeedsApproval reports that the list denies what it does not name, but does not grant what
	// it names: such calls still need an approval. It is set if the list comes from repaired
	// front matter, or if the host did not choose the skill.
	NeedsApproval bool
	// IsKept reports that the skill stays loaded when the turn ends.
	IsKept bool
	// IsLapsed reports that the skill is no longer loaded with this list. The list applies until
	// the turn ends, unless a person allows a call.
	IsLapsed bool
}

// Judge judges calls by lists. The zero value has the default policy. It is safe for concurrent
// use.
type Judge struct {
	Policy  permission.Policy
	Combine permission.Combine
	// Home is the directory for "~/" in path patterns, "" if it is not known.
	Home string
	// Mentions has the tools that lists of the catalog name. The lists of a decision count too.
	Mentions *Mentions
}

// Outcome is the decision of lists about a call.
type Outcome uint8

// The outcomes.
const (
	// Open calls are neither granted nor denied.
	Open Outcome = iota
	Granted
	Denied
)

// String returns open, granted or denied.
func (o Outcome) String() string {
	names := []string{"open", "granted", "denied"}
	if int(o) < len(names) {
		return names[o]
	}
	return fmt.Sprintf("judging.Outcome(%d)", uint8(o))
}

// Verdict is the decision about a call, with its reason.
type Verdict struct {
	Outcome Outcome
	// Skill and Rule are the skill and the entry that allowed the call. For a text of several
	// commands they are those of the last command. For a denied call, Skill names the skills
	// whose lists deny it.
	Skill, Rule string
	// Decider says what decided if it was not an allowed-tools list. It is "" otherwise.
	Decider string
	// ByPattern reports that the call is allowed only because a pattern matches it. The call must
	// then run exactly what was compared.
	ByPattern bool
	// Reason says why. For a denied call it is written for the model.
	Reason string
	// Question says why a person may still allow a denied call, because only lapsed lists deny
	// it. It is "" for other calls.
	Question string
}

// Decide judges a call by the lists of the loaded skills, which are in load order. A skill may
// have several lists, one for each of its texts in this turn. The work of a decision is bounded:
// only entries without a pattern allow a call that is too large to compare. The error is that of
// ctx.
func (j *Judge) Decide(ctx context.Context, q permission.Request, lists []List) (Verdict, error) {
	switch {
	case q.Tool.Always:
		return Verdict{Outcome: Granted, Reason: "always callable"}, nil
	case q.Idle && j.Names(q.Tool, lists):
		return Verdict{Outcome: Granted, Reason: "does nothing: its arguments are wrong"}, nil
	case j.Policy == permission.Off:
		return Verdict{Reason: "lists are off"}, nil
	}
	v := j.verdict(ctx, &q, lists)
	if held := loadedLists(lists); v.Outcome == Denied && len(held) < len(lists) {
		if now := j.verdict(ctx, &q, held); now.Outcome != Denied {
			v.ByPattern, v.Question = now.ByPattern, j.lapsedReason(&q, lists)
		}
	}
	return v, ctx.Err()
}

// verdict judges a call by the lists that apply to it.
func (j *Judge) verdict(ctx context.Context, q *permission.Request, lists []List) Verdict {
	if len(lists) == 0 {
		return Verdict{Reason: "no list"}
	}
	lists, beside := j.listsFor(q, lists)
	if beside != "" {
		return Verdict{Reason: beside}
	}
	d := decision{Judge: j, lists: lists, meter: newMeter(ctx)}
	return d.verdict(q)
}

// loadedLists returns the lists that have not lapsed.
func loadedLists(lists []List) []List {
	return slices.DeleteFunc(slices.Clone(lists), func(l List) bool { return l.IsLapsed })
}

// decision holds the state of one call of Decide.
type decision struct {
	*Judge
	lists []List
	meter *meter
}

// verdict judges each action of a call.
func (d *decision) verdict(q *permission.Request) Verdict {
	v := Verdict{Outcome: Granted, Reason: "listed"}
	actions := (*judgedRequest)(q).actions()
	for i := range actions {
		a := &actions[i]
		c := d.combine(d.lists, func(l *List) cover { return d.coverOf(a, l) })
		switch {
		case !c.ok && d.Policy.Restricts():
			if d.meter.exhausted() {
				a.noPattern = "it is too much to compare; call with less"
			}
			return Verdict{Outcome: Denied, Skill: strings.Join(d.decidingSkills(d.lists), ", "), Reason: printable.Lines(d.denial(q, a, d.lists))}
		case !c.ok:
			return Verdict{Reason: "not listed"}
		case !c.granted:
			v.Outcome, v.Reason = Open, "listed, but the list grants nothing"
		}
		v.Skill, v.Rule, v.ByPattern = c.skill, c.rule, v.ByPattern || c.pattern
	}
	return v
}

// Forbid judges a call by the disallowed-tools of the loaded skills, before any list allows it.
// isForbidden reports that one of them denies the call. An entry with a pattern also denies a call
// that cannot be compared with it. Entries that cannot be read deny nothing.
func (j *Judge) Forbid(ctx context.Context, q permission.Request, denials []Denial) (v Verdict, isForbidden bool) {
	if len(denials) == 0 || q.Tool.Always || q.Idle || !j.Policy.Restricts() {
		return Verdict{}, false
	}
	m := newMeter(ctx)
	actions := (*judgedRequest)(&q).actions()
	for i := range denials {
		d := &denials[i]
		for k := range d.Rules {
			for n := range actions {
				a := &actions[n]
				if why, denies := d.Rules[k].forbids(a, d.Skill, j.Home, m); denies {
					return Verdict{Outcome: Denied, Skill: d.Skill, Rule: d.Rules[k].Text, Decider: "disallowed-tools of " + d.Skill, Reason: forbidReason(&q, a, d.Skill, &d.Rules[k], why)}, true
				}
			}
		}
	}
	return Verdict{}, false
}

// Names reports whether the lists may allow calls of a tool: if they name it, with a pattern or
// without, or if they do not apply to it.
func (j *Judge) Names(t permission.Tool, lists []List) bool {
	if t.Always || !j.Policy.Restricts() || len(lists) == 0 || !j.governs(&t, lists) {
		return true
	}
	return j.combine(lists, func(l *List) cover {
		return cover{ok: isNamed(&t, []List{*l})}
	}).ok
}

// cover is the result of one list, or of several, for an action.
type cover struct {
	ok, granted, pattern bool
	skill, rule          string
}

// isBetter reports whether c is the better reason of two to allow an action: one that grants it,
// or else one without a pattern.
func (c cover) isBetter(than cover) bool {
	switch {
	case c.ok != than.ok:
		return c.ok
	case c.granted != than.granted:
		return c.granted
	}
	return !c.pattern && than.pattern
}

// and combines the results of two lists that must both allow the action.
func (c cover) and(other cover) cover {
	both := other
	both.ok, both.granted = c.ok && other.ok, c.granted && other.granted
	if both.pattern = c.pattern || other.pattern; c.pattern && !other.pattern {
		both.skill, both.rule = c.skill, c.rule
	}
	return both
}

// coverOf returns the result of one list for an action.
func (d *decision) coverOf(a *action, l *List) cover {
	var best cover
	if a.isStaged && !isNamed(&a.request.Tool, []List{*l}) {
		return cover{ok: true, granted: !l.NeedsApproval, skill: l.Skill}
	}
	for i := range l.Rules {
		r := &l.Rules[i]
		if ok, byPattern := r.covers(a, l.Skill, d.Home, d.meter); ok {
			c := cover{ok: true, granted: !l.NeedsApproval, pattern: byPattern, skill: l.Skill, rule: r.Text}
			if !best.ok || c.isBetter(best) {
				best = c
			}
		}
	}
	return best
}

// combine calls ask for each list and combines the results.
func (j *Judge) combine(lists []List, ask func(*List) cover) cover {
	var all cover
	for i, skill := range j.decidingSkills(lists) {
		c := cover{ok: true, granted: true}
		for k := range lists {
			if lists[k].Skill == skill {
				c = c.and(ask(&lists[k]))
			}
		}
		switch {
		case i == 0:
			all = c
		case j.Combine == permission.Intersection:
			all = all.and(c)
		case c.isBetter(all):
			all = c
		}
	}
	return all
}

// decidingSkills returns the skills whose lists decide, in the order of their last lists.
func (j *Judge) decidingSkills(lists []List) []string {
	skills := skillsOf(lists)
	if j.Combine == permission.Latest && len(skills) > 0 {
		skills = skills[len(skills)-1:]
	}
	return skills
}

// skillsOf returns the skills of lists, each once, in the order of its last list.
func skillsOf(lists []List) []string {
	var skills []string
	for i := range lists {
		if at := slices.Index(skills, lists[i].Skill); at >= 0 {
			skills = slices.Delete(skills, at, at+1)
		}
		skills = append(skills, lists[i].Skill)
	}
	return skills
}

// isMapped reports whether a name of the format stands for the tool.
func isMapped(t *permission.Tool) bool {
	return len(t.As) > 0 || isFormatTool(t.Name)
}

// Names maps names in lists to tools. It is immutable. The zero value is empty.
type Names struct {
	tools map[string]permission.Tool
	host  map[string]bool
}

// NewNames returns the built-in tools and those of the host, which replace built-in tools of the
// same name. The built-in tools are Satchel's, and common names for Bash, Read, Write, Edit,
// Glob, Grep, WebFetch, WebSearch, Task, TodoWrite, NotebookEdit and AskUserQuestion.
func NewNames(host ...permission.Tool) *Names {
	n := &Names{tools: make(map[string]permission.Tool, len(knownTools)+len(host)), host: make(map[string]bool, len(host))}
	for _, t := range builtinTools() {
		n.tools[t.Name] = t
	}
	for _, t := range host {
		n.tools[strings.ToLower(t.Name)] = t
		n.host[strings.ToLower(t.Name)] = true
	}
	return n
}

// IsOfHost reports whether the host has described the tool.
func (n *Names) IsOfHost(name string) bool { return n.host[strings.ToLower(name)] }

// Tool returns the description of a tool. For an unknown tool it has only the name. It finds
// "runCommand" and "run-command" as run_command.
func (n *Names) Tool(name string) permission.Tool {
	if t, ok := n.tools[strings.ToLower(name)]; ok {
		t.Name = name
		return t
	}
	plain := plainName(name)
	if t, ok := n.tools[plain]; ok && !n.host[plain] {
		t.Name = name
		return t
	}
	return permission.Tool{Name: name}
}

// Unmapped returns the tools of an agent for which no name of the format stands. Lists apply to
// such a tool only if they name it. It leaves out tools that the host has described.
func (n *Names) Unmapped(tools []string) []string {
	var all []string
	for _, name := range tools {
		t := n.Tool(name)
		if !t.Always && !isMapped(&t) && !n.host[strings.ToLower(name)] && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// plainName returns name in lower case with "_" between words.
func plainName(name string) string {
	var b strings.Builder
	last := '_'
	for _, c := range name {
		switch {
		case c == '-' || c == ' ' || c == '.' || c == '/':
			c = '_'
		case unicode.IsUpper(c):
			if unicode.IsLower(last) {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(c))
		last = c
	}
	return b.String()
}
