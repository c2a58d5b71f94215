package permission

import (
	"errors"
	"fmt"
	"slices"
)

// Policy says how the allowed-tools of loaded skills restrict an agent.
type Policy uint8

const (
	// Restrict is the default. It denies calls that no list allows, while a loaded skill declares a
	// list. Listed calls need no approval. It applies to tools that lists can name. These are the
	// tools that run skills, those with a name of the format (Bash, Read, Write …), and those
	// that some list of the catalog names. Other tools of the host stay allowed, because no
	// author of a skill could have meant them.
	Restrict Policy = iota
	// Preapprove lets listed calls run without approval and denies nothing.
	Preapprove
	// Off ignores the lists.
	Off
	// RestrictAll denies every call of any tool that is not listed, while a loaded skill declares
	// a list.
	RestrictAll
)

// policies are the names of the policies.
var policies = []string{Restrict: "restrict", Preapprove: "preapprove", Off: "off", RestrictAll: "restrict-all"}

// errPolicy reports a name that is no policy.
var errPolicy = errors.New("unknown policy")

// String returns restrict, restrict-all, preapprove or off.
func (p Policy) String() string { return nameOf(policies, uint8(p), "permission.Policy") }

// Valid reports whether p is one of the four policies.
func (p Policy) Valid() bool { return int(p) < len(policies) }

// Restricts reports whether lists deny anything under p.
func (p Policy) Restricts() bool { return p == Restrict || p == RestrictAll }

// UnmarshalText sets the policy from restrict, restrict-all, preapprove or off.
func (p *Policy) UnmarshalText(text []byte) error {
	i := slices.Index(policies, string(text))
	if i < 0 {
		return fmt.Errorf("%w %q: use restrict, restrict-all, preapprove or off", errPolicy, text)
	}
	*p = Policy(i)
	return nil
}

// Combine says how the lists of several skills are combined. Union and Latest apply only to
// tools that name no skill, because the list of a run's skill decides about the run. If several
// texts of one skill were loaded in the same turn, each of their lists must allow a call.
type Combine uint8

const (
	// Union is the default. It allows what at least one of the lists allows.
	Union Combine = iota
	// Intersection allows what every list allows, and applies to runs too.
	Intersection
	// Latest allows what the list of the most recently loaded skill allows.
	Latest
)

// combinations are the names of the ways to combine lists.
var combinations = []string{Union: "union", Intersection: "intersection", Latest: "latest"}

// errCombine reports a name that is no way to combine lists.
var errCombine = errors.New("unknown way to combine lists")

// String returns union, intersection or latest.
func (c Combine) String() string { return nameOf(combinations, uint8(c), "permission.Combine") }

// Valid reports whether c is one of the three ways.
func (c Combine) Valid() bool { return int(c) < len(combinations) }

// UnmarshalText sets the way from union, intersection or latest.
func (c *Combine) UnmarshalText(text []byte) error {
	i := slices.Index(combinations, string(text))
	if i < 0 {
		return fmt.Errorf("%w %q: use union, intersection or latest", errCombine, text)
	}
	*c = Combine(i)
	return nil
}

// nameOf returns name i, or the number with its type if there is none.
func nameOf(names []string, i uint8, kind string) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}
