// Package loadmode has the settings of a host for loaded skills: when a load ends, and which
// skill is unloaded to make room for another. It also has the prices of a prompt cache, which
// decide when the content of ended loads is removed from view.
package loadmode

import (
	"errors"
	"fmt"
)

// Mode says when a load ends. The zero value leaves that to the runtime.
type Mode uint8

const (
	// Turn keeps loaded content until the next user turn begins.
	Turn Mode = iota + 1
	// Once shows loaded content to the model once: it stays in view only until an assistant
	// message follows it, so a retry shows it again. The skill may run until the turn ends.
	Once
	// Session keeps loaded content until it is unloaded, evicted or cleared, or until the session
	// ends.
	Session
	// Adaptive is the default of a runtime. It ends a load with its turn, as Turn does: the skill
	// is no longer loaded, and its list of allowed tools no longer applies. But its text stays in
	// view until removing it pays at the [Prices] of the prompt cache.
	Adaptive
)

// ErrMode reports a name that is not a load mode.
var ErrMode = errors.New("unknown load mode")

// names are the names of the modes.
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

// parse returns the mode with a name. The error wraps ErrMode.
func parse(name string) (Mode, error) {
	for m, n := range names {
		if n == name && m > 0 {
			return Mode(m), nil
		}
	}
	return 0, fmt.Errorf("%w %q: use turn, once, session or adaptive", ErrMode, name)
}

// MarshalText returns the name of the mode.
func (m Mode) MarshalText() ([]byte, error) {
	if !m.Valid() {
		return nil, fmt.Errorf("%w %d", ErrMode, uint8(m))
	}
	return []byte(m.String()), nil
}

// UnmarshalText sets the mode from its name.
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = parse(string(text))
	return err
}
