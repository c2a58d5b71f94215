package judging

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/permission"
)

// Denial is the disallowed-tools list of one loaded skill.
type Denial struct {
	Skill string
	Rules []Rule
}

// forbids reports whether an entry denies an action. why says why the action cannot be compared with
// the pattern of the entry, "" if it matches.
func (r *Rule) forbids(a *action, owner, home string, m *meter) (why string, denies bool) {
	known := *a
	known.isOpen, known.changesDir, known.isSeparate = false, false, false
	if a.env != nil { // a variable before a command changes nothing here
		known.noPattern, known.env = "", nil
	}
	known.lines = plainLines(a.lines)
	if ok, _ := r.covers(&known, owner, home, m); ok {
		return "", true
	}
	if r.Fault != "" || r.Any || !r.names(&a.request.Tool) {
		return "", false
	}
	switch {
	case known.noPattern != "":
		return known.noPattern, true
	case m.exhausted():
		return "it is too much to compare", true
	case a.request.Takes != permission.Command:
		return "", false
	case slices.ContainsFunc(known.lines, startsOthers):
		return "it starts a command that is not compared", true
	case r.command != nil && slices.ContainsFunc(known.lines, func(l argumentList) bool {
		return len(l.args) > 0 && len(r.command.words) > 0 && r.command.matchesProgram(l.args[0]) && (a.isOpen || r.command.mayEscape(l.args))
	}):
		return "its words are not all known", true
	}
	return "", false
}

// plainLines returns command lines with the program's name in place of its path.
func plainLines(lines []argumentList) []argumentList {
	plain := make([]argumentList, 0, 2*len(lines))
	for _, l := range lines {
		plain = append(plain, l)
		if len(l.args) > 0 && strings.Contains(l.args[0], "/") {
			words := slices.Clone(l.args)
			words[0] = path.Base(words[0])
			plain = append(plain, newArgumentList(words))
		}
	}
	return plain
}

// starters are programs and builtins that start the command that their arguments name.
var starters = []string{"builtin", "busybox", "command", "doas", "env", "eval", "exec", "find", "nice", "nohup", "setsid", "stdbuf", "sudo", "time", "timeout", "xargs"}

// startsOthers reports whether a command starts another one that its arguments name.
func startsOthers(l argumentList) bool {
	if len(l.args) == 0 {
		return false
	}
	name := path.Base(l.args[0])
	isText := func(word string) bool {
		return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, "c")
	}
	return slices.Contains(starters, name) || slices.Contains(shells, name) && slices.ContainsFunc(l.args[1:], isText)
}

// forbidReason is the answer to a call that an entry denies.
func forbidReason(q *permission.Request, a *action, skill string, r *Rule, why string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "denied: %s", oneLine(q.Tool.Name))
	if a.what != q.Tool.Name && a.what != "" {
		fmt.Fprintf(&b, " %q", printable.Cut(a.what, maxNamedEntry))
	}
	if why == "" {
		fmt.Fprintf(&b, " is among the disallowed-tools of %s: %s", oneLine(skill), oneLine(r.Text))
	} else {
		fmt.Fprintf(&b, " cannot be compared with the disallowed-tools of %s, %s: %s", oneLine(skill), oneLine(r.Text), why)
	}
	b.WriteString(". This holds while the skill is loaded. Go on without it, or say what you would need.")
	return printable.Lines(b.String())
}

// Disallowed returns one line that says what the lists deny, "" for nothing. Entries that name one
// of the undeniable tools are left out.
func Disallowed(denials []Denial, undeniable []string) string {
	var parts []string
	for i := range denials {
		var entries []string
		for k := range denials[i].Rules {
			rule := &denials[i].Rules[k]
			if rule.Fault != "" || slices.Contains(ownTools, strings.ToLower(rule.Tool)) || slices.ContainsFunc(undeniable, func(name string) bool { return strings.EqualFold(name, rule.Tool) }) {
				continue
			}
			if text := oneLine(rule.Text); !slices.Contains(entries, text) {
				entries = append(entries, text)
			}
		}
		if len(entries) > 0 {
			parts = append(parts, fmt.Sprintf("not allowed while %s is loaded: %s", oneLine(denials[i].Skill), strings.Join(limitNames(entries), ", ")))
		}
	}
	return strings.Join(limitNames(parts), "; ")
}

// Denies reports whether an entry without a pattern denies all calls of a tool.
func Denies(t permission.Tool, denials []Denial) bool {
	return !t.Always && slices.ContainsFunc(denials, func(d Denial) bool {
		return slices.ContainsFunc(d.Rules, func(r Rule) bool { return r.Any && r.Fault == "" && r.names(&t) })
	})
}
