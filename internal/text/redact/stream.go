package redact

import "bytes"

// Stream replaces secrets in bytes that arrive in parts. What it shows does not
// depend on how the bytes were divided.
type Stream struct {
	Set  *Set   // nil finds none
	held []byte // may be the beginning of a secret
}

// Add returns the further bytes that may be shown now. After the last part
// nothing is held back: the stream counts as cut there.
func (s *Stream) Add(p []byte, last bool) []byte {
	if s.Set == nil {
		return p
	}
	shown, rest := s.Set.scan(nil, append(s.held, p...), mode{part: last, more: !last})
	s.held = bytes.Clone(rest)
	return shown
}

// Held returns what was added but not shown yet. It must not be shown.
func (s *Stream) Held() []byte { return s.held }
