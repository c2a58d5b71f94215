package catalog

import "fmt"

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
func WithCollisions(rule Collisions) Option {
	return func(c *config) error {
		if rule > Ambiguous {
			return fmt.Errorf("WithCollisions(%d): there is no such rule", rule)
		}
		c.collisions = rule
		return nil
	}
}
