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

// List is the declared list of one loaded skill.
type List struct {
	Skill string
	Rules []Rule
	// Repaired says that the list was guessed from broken front matter, or is of a skill that
	// the host did not choose. It denies what it does not name, but what it names still needs
	// an approval.
	Repaired bool
	// Stays says that the skill stays loaded when the turn ends.
	Stays bool
	// Lapsed says that the skill is no longer loaded with this list. The list applies until the
	// turn ends, unless a person allows a call.
	Lapsed bool
}

// Judge decides on calls. The zero value has the defaults; it is safe for
// concurrent use.
type Judge struct {
	Policy  permission.Policy
	Combine permission.Combine
	// Home is the directory that "~/" in path patterns stands for; "" is none.
	Home string
	// Mentions are the tools that lists of the catalog name. Those in the lists of
	// a decision count too.
	Mentions *Mentions
}

// Outcome says what lists decide about a call.
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

// Verdict is the decision on a call.
type Verdict struct {
	Outcome Outcome
	// Skill and Rule are those that allowed the call, if any did. For a text of several
	// commands they are those of the last. For a denied call Skill names the skills whose lists
	// deny it.
	Skill, Rule string
	// Pattern says that the call passes only because a pattern matches. The call must then run
	// exactly as the pattern says.
	Pattern bool
	// Reason says why. The reason of a denied call is written for the model.
	Reason string
	// Question says why a person may allow a denied call: only lapsed lists deny it. It is
	// empty for other calls.
	Question string
}

// Decide decides on a call by the lists of the loaded skills, in load order. A skill may have
// several lists, one for each of its texts in this turn. The work of a decision is bounded: a
// call that is too large to compare is allowed only by entries without a pattern. The error is
// that of ctx.
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
	if held := live(lists); v.Outcome == Denied && len(held) < len(lists) {
		if now := j.verdict(ctx, &q, held); now.Outcome != Denied {
			v.Pattern, v.Question = now.Pattern, j.lapsed(&q, lists)
		}
	}
	return v, ctx.Err()
}

func (j *Judge) verdict(ctx context.Context, q *permission.Request, lists []List) Verdict {
	if len(lists) == 0 {
		return Verdict{Reason: "no list"}
	}
	lists, beside := j.judging(q, lists)
	if beside != "" {
		return Verdict{Reason: beside}
	}
	d := decision{Judge: j, lists: lists, meter: newMeter(ctx)}
	return d.verdict(q)
}

// live are the lists of what is loaded.
func live(lists []List) []List {
	return slices.DeleteFunc(slices.Clone(lists), func(l List) bool { return l.Lapsed })
}

// decision is one call of Decide.
type decision struct {
	*Judge
	lists []List
	meter *meter
}

func (d *decision) verdict(q *permission.Request) Verdict {
	v := Verdict{Outcome: Granted, Reason: "listed"}
	actions := (*asked)(q).actions()
	for i := range actions {
		a := &actions[i]
		c := d.combined(d.lists, func(l *List) cover { return d.cover(a, l) })
		switch {
		case !c.ok && d.Policy.Restricts():
			if d.meter.exhausted() {
				a.noPattern = "it is too much to compare; call with less"
			}
			return Verdict{Outcome: Denied, Skill: strings.Join(d.deciding(d.lists), ", "), Reason: printable.Lines(d.denial(q, a, d.lists))}
		case !c.ok:
			return Verdict{Reason: "not listed"}
		case !c.granted:
			v.Outcome, v.Reason = Open, "listed, but the list grants nothing"
		}
		v.Skill, v.Rule, v.Pattern = c.skill, c.rule, v.Pattern || c.pattern
	}
	return v
}

// Names reports whether a call of the tool can pass the lists. It can if they name the tool,
// with a pattern or without, or do not apply to it.
func (j *Judge) Names(t permission.Tool, lists []List) bool {
	if t.Always || !j.Policy.Restricts() || len(lists) == 0 || !j.governs(&t, lists) {
		return true
	}
	return j.combined(lists, func(l *List) cover {
		return cover{ok: isNamed(&t, []List{*l})}
	}).ok
}

// cover is what one list, or several, say of an action.
type cover struct {
	ok, granted, pattern bool
	skill, rule          string
}

// better reports whether c is the better reason of two: one that grants, and
// then one that needs no pattern.
func (c cover) better(than cover) bool {
	switch {
	case c.ok != than.ok:
		return c.ok
	case c.granted != than.granted:
		return c.granted
	}
	return !c.pattern && than.pattern
}

// and is what two lists say that must both allow.
func (c cover) and(other cover) cover {
	both := other
	both.ok, both.granted = c.ok && other.ok, c.granted && other.granted
	if both.pattern = c.pattern || other.pattern; c.pattern && !other.pattern {
		both.skill, both.rule = c.skill, c.rule
	}
	return both
}

func (d *decision) cover(a *action, l *List) cover {
	var best cover
	if a.staged && !isNamed(&a.request.Tool, []List{*l}) {
		return cover{ok: true, granted: !l.Repaired, skill: l.Skill}
	}
	for i := range l.Rules {
		r := &l.Rules[i]
		if ok, byPattern := r.covers(a, l.Skill, d.Home, d.meter); ok {
			c := cover{ok: true, granted: !l.Repaired, pattern: byPattern, skill: l.Skill, rule: r.Text}
			if !best.ok || c.better(best) {
				best = c
			}
		}
	}
	return best
}

// combined asks each list and combines the answers.
func (j *Judge) combined(lists []List, ask func(*List) cover) cover {
	var all cover
	for i, skill := range j.deciding(lists) {
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
		case c.better(all):
			all = c
		}
	}
	return all
}

// deciding are the skills whose lists decide, in the order of their last lists.
func (j *Judge) deciding(lists []List) []string {
	skills := skillsOf(lists)
	if j.Combine == permission.Latest && len(skills) > 0 {
		skills = skills[len(skills)-1:]
	}
	return skills
}

// skillsOf are the skills of lists, each once, in the order of its last list.
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
	return len(t.As) > 0 || isWord(t.Name)
}

// Names maps the names in lists to tools. The zero value is empty. It is immutable.
type Names struct {
	tools map[string]permission.Tool
	host  map[string]bool
}

// NewNames returns the built-in tools and those of the host, which replace
// built-in ones of the same name. The built-in ones are Satchel's, and names that
// many hosts have for what the format calls Bash, Read, Write, Edit, Glob, Grep,
// WebFetch, WebSearch, Task, TodoWrite, NotebookEdit and AskUserQuestion.
func NewNames(host ...permission.Tool) *Names {
	n := &Names{tools: make(map[string]permission.Tool, len(builtin)+len(host)), host: make(map[string]bool, len(host))}
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

// Tool returns the description of a tool. That of an unknown tool has only its name.
// "runCommand" and "run-command" are found as run_command.
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

// Unmapped returns the tools of an agent that no name of the format stands for. Lists apply to
// such a tool only if they name it. Tools that the host has described are left out.
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

// plainName writes a name in lower case with "_" between its words.
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
