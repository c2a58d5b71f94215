package permission

import (
	"errors"
	"fmt"
	"slices"
)

// Policy is what the allowed-tools of loaded skills mean.
type Policy uint8

const (
	// Restrict lets an agent call, while a loaded skill declares a list, only
	// what is listed; listed tools need no approval. The default.
	Restrict Policy = iota
	// Preapprove takes a list for tools that need no approval and restricts
	// nothing.
	Preapprove
	// Off ignores the lists.
	Off
)

var policies = []string{Restrict: "restrict", Preapprove: "preapprove", Off: "off"}

// ErrPolicy reports a name that is no policy.
var ErrPolicy = errors.New("unknown policy")

// String returns restrict, preapprove or off.
func (p Policy) String() string { return nameOf(policies, uint8(p), "permission.Policy") }

// Valid reports whether p is one of the three policies.
func (p Policy) Valid() bool { return int(p) < len(policies) }

// UnmarshalText reads the policy's name. The error wraps [ErrPolicy].
func (p *Policy) UnmarshalText(text []byte) error {
	i := slices.Index(policies, string(text))
	if i < 0 {
		return fmt.Errorf("%w %q: use restrict, preapprove or off", ErrPolicy, text)
	}
	*p = Policy(i)
	return nil
}

// Combine says how the lists of several skills are taken together. Only
// declared lists are: a skill without one changes nothing. Several texts of one
// skill that were loaded in the same turn must always allow a call each.
type Combine uint8

const (
	// Union allows what any of the lists allows. The default.
	Union Combine = iota
	// Intersection allows what every list allows.
	Intersection
	// Latest allows what the list of the skill that was loaded last allows.
	Latest
)

var combinations = []string{Union: "union", Intersection: "intersection", Latest: "latest"}

// ErrCombine reports a name that is no way to combine lists.
var ErrCombine = errors.New("unknown way to combine lists")

// String returns union, intersection or latest.
func (c Combine) String() string { return nameOf(combinations, uint8(c), "permission.Combine") }

// Valid reports whether c is one of the three ways.
func (c Combine) Valid() bool { return int(c) < len(combinations) }

// UnmarshalText reads the name of a way. The error wraps [ErrCombine].
func (c *Combine) UnmarshalText(text []byte) error {
	i := slices.Index(combinations, string(text))
	if i < 0 {
		return fmt.Errorf("%w %q: use union, intersection or latest", ErrCombine, text)
	}
	*c = Combine(i)
	return nil
}

func nameOf(names []string, i uint8, kind string) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}
