package catalog

import (
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/core"
)

// Scope says whose skills a root holds. The scopes rank in the order of the
// constants; within a scope the earlier root ranks higher, and within a root the
// path that sorts first.
type Scope = core.Scope

// The scopes of roots.
const (
	Host    = core.ScopeHost
	Project = core.ScopeProject
	User    = core.ScopeUser
	PlugIn  = core.ScopePlugin
	Builtin = core.ScopeBuiltin
	Remote  = core.ScopeRemote
)

// In returns the root in a scope; the default is [Host]. A root in scope Project is
// searched only where [WithTrust] says so.
func (r Root) In(s Scope) Root {
	r.scope = s
	return r
}

// Named returns the root with a name for qualified names and ids: 1 to 32 of a-z, 0-9
// and "-". The default is the name that stands in front of its locations. Any other
// name is an error of [Open].
func (r Root) Named(name string) Root {
	r.called = &name
	return r
}

// FollowLinks returns the root with permission to follow links to directories below dirs.
// Without it, a link directly below a [Dir] is followed if it leads to a directory inside the
// git work tree of the root. If the root is in no work tree, the link must lead to a directory
// inside the home directory.
func (r Root) FollowLinks(dirs ...string) Root {
	r.follow = slices.Concat(r.follow, dirs)
	return r
}

// Scope returns the scope of the root.
func (r Root) Scope() Scope { return r.scope }

// Path returns the directory of a [Dir] as the host wrote it, "" for other roots.
func (r Root) Path() string {
	if r.isNamed() {
		return ""
	}
	return r.path
}

// checkName returns why the name of the root cannot be used.
func (r Root) checkName() error {
	if r.called == nil {
		return nil
	}
	name := *r.called
	valid := len(name) >= 1 && len(name) <= 32
	for _, c := range []byte(name) {
		valid = valid && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-')
	}
	if !valid {
		return fmt.Errorf("catalog: root %q: the name %q is not 1 to 32 of a-z, 0-9 and \"-\"", r, name)
	}
	return nil
}

// Collisions says what a plain name means that two skills have.
type Collisions uint8

const (
	// Shadow gives the name to the skill with the highest rank. It is the default.
	Shadow Collisions = iota
	// Ambiguous gives it to none: asking for it is an [AmbiguousError].
	Ambiguous
)

// WithCollisions sets what happens where two skills have one name. Either way all of
// them are in the snapshot, and can be had by their qualified names.
func WithCollisions(rule Collisions) Option { return func(c *config) { c.collisions = rule } }
