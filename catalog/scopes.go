package catalog

import "fmt"

// Collisions says which skill a plain name means if several skills have it.
type Collisions uint8

const (
	// Shadow gives the name to the skill with the highest rank. It is the default.
	Shadow Collisions = iota
	// Ambiguous gives the name to no skill: resolving it is an [AmbiguousError].
	Ambiguous
)

// WithCollisions sets which skill gets a name that several skills have. Under either rule all of
// them are in the snapshot and have qualified names.
func WithCollisions(rule Collisions) Option {
	return func(c *config) error {
		if rule > Ambiguous {
			return fmt.Errorf("WithCollisions(%d): there is no such rule", rule)
		}
		c.collisions = rule
		return nil
	}
}
