package redact

import "bytes"

// Stream replaces secrets in bytes that arrive in parts. The output does not depend on how the
// bytes are divided.
type Stream struct {
	Set  *Set   // nil finds none
	held []byte // may be the beginning of a secret
}

// Add adds bytes and returns those that may be shown now. It may hold back a possible beginning
// of a secret. After the last part it holds back no bytes: the stream counts as cut there.
func (s *Stream) Add(p []byte, last bool) []byte {
	if s.Set == nil {
		return p
	}
	shown, rest := s.Set.scan(nil, append(s.held, p...), mode{part: last, more: !last})
	s.held = bytes.Clone(rest)
	return shown
}

// Held returns the bytes that Add holds back. They must not be shown.
func (s *Stream) Held() []byte { return s.held }
