package redact

import "bytes"

// Stream takes secrets out of bytes that come in parts. What it shows does not
// depend on how they were divided.
type Stream struct {
	Set  *Set   // nil finds none
	held []byte // may go on as a secret
}

// Add returns what may be shown after all that came before. After the last part
// nothing is held back: the stream counts as cut there.
func (s *Stream) Add(p []byte, last bool) []byte {
	if s.Set == nil {
		return p
	}
	shown, rest := s.Set.scan(nil, append(s.held, p...), mode{part: last, more: !last})
	s.held = bytes.Clone(rest)
	return shown
}

// Held is what was added and not shown yet. It must not be shown.
func (s *Stream) Held() []byte { return s.held }
