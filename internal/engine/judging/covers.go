package judging

import (
	"slices"

	"github.com/satchel-go/satchel/permission"
)

// covers reports whether an entry allows an action, and whether it does so only because its
// pattern matches. owner is the skill whose list has the entry.
func (r *Rule) covers(a *action, owner, home string, m *meter) (ok, byPattern bool) {
	q := a.request
	switch {
	case r.Fault != "":
		return false, false
	case r.Any && !a.isSeparate && r.names(a.by):
		return true, false
	case !r.names(&q.Tool):
		return false, false
	case r.Any:
		return true, false
	case r.Pattern == "" || a.noPattern != "" && a.env == nil:
		return false, false
	}
	switch q.Takes {
	case permission.Command:
		return r.coversCommand(a, owner, m), true
	case permission.Path:
		return r.path != nil && slices.ContainsFunc(a.paths, func(file string) bool { return r.path.matches(file, home, m) }), true
	case permission.Text:
		return textMatches(r.Pattern, q.Text, m), true
	case Inert:
		return true, true
	}
	return false, false
}

// coversCommand reports whether the entry's pattern matches a command.
func (r *Rule) coversCommand(a *action, owner string, m *meter) bool {
	p, q := r.command, a.request
	if p == nil || !p.allowsEnv(a.env) {
		return false
	}
	if p.isLocal() && (a.changesDir || q.Skill != "" && q.Skill != owner || q.Dir != "") {
		return false
	}
	return slices.ContainsFunc(a.lines, func(l argumentList) bool {
		return m.spend(1+len(l.text)/8) && p.matches(l, a.isOpen)
	})
}
