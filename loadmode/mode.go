// Package loadmode holds what a host decides about loaded skills: how long a load lasts, and
// which one makes room for another. It also has the prices of a prompt cache, which decide
// when expired content is cleared.
package loadmode

import (
	"errors"
	"fmt"
)

// Mode says how long a load lasts. The zero value leaves that to the runtime.
type Mode uint8

const (
	// Turn keeps loaded content until the next user turn begins.
	Turn Mode = iota + 1
	// Once shows loaded content to the model once: only while no assistant
	// message follows its delivery, so a retry shows it again. The skill may
	// run until the turn ends.
	Once
	// Session keeps loaded content until it is unloaded, evicted or cleared,
	// or until the session ends.
	Session
	// Adaptive ends a load with its turn, as Turn does: the skill is no longer
	// loaded, and its list of allowed tools ceases. Its text stays in view until
	// clearing it pays at the [Prices] of the prompt cache. The default of a runtime.
	Adaptive
)

// ErrMode reports a name that is not a load mode.
var ErrMode = errors.New("unknown load mode")

var names = [...]string{Turn: "turn", Once: "once", Session: "session", Adaptive: "adaptive"}

// String returns turn, once, session or adaptive.
func (m Mode) String() string {
	if m.Valid() {
		return names[m]
	}
	return fmt.Sprintf("loadmode.Mode(%d)", uint8(m))
}

// Valid reports whether m is one of the four modes.
func (m Mode) Valid() bool { return m > 0 && int(m) < len(names) }

// parse returns the mode of that name. The error wraps ErrMode.
func parse(name string) (Mode, error) {
	for m, n := range names {
		if n == name && m > 0 {
			return Mode(m), nil
		}
	}
	return 0, fmt.Errorf("%w %q: use turn, once, session or adaptive", ErrMode, name)
}

// MarshalText writes the mode's name.
func (m Mode) MarshalText() ([]byte, error) {
	if !m.Valid() {
		return nil, fmt.Errorf("%w %d", ErrMode, uint8(m))
	}
	return []byte(m.String()), nil
}

// UnmarshalText reads the mode's name.
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = parse(string(text))
	return err
}
