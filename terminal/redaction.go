package terminal

import (
	"bytes"
	"strings"
)

// Secret is a value that nobody may be shown: [Name] stands in its place. An
// empty value is ignored.
type Secret struct{ Name, Value string }

// shownPart is how many bytes of the beginning of a secret may stand at the end
// of all output: so few are there by accident.
const shownPart = 3

// redaction takes secrets out of a stream. Of two that begin at the same place
// the longer counts.
type redaction struct {
	secrets []Secret
	first   [256]bool // the first bytes of secrets
	held    []byte    // may go on as a secret
}

func (r *redaction) look(secrets []Secret) {
	for _, s := range secrets {
		if s.Value != "" {
			r.secrets = append(r.secrets, s)
			r.first[s.Value[0]] = true
		}
	}
}

// add returns what may be shown of the stream. What its end leaves of a secret
// that was broken off is taken out too.
func (r *redaction) add(p []byte, last bool) []byte {
	if len(r.secrets) == 0 {
		return p
	}
	p = append(r.held, p...)
	var out []byte
	shown := 0 // p up to here is in out
	i := 0
	for i < len(p) {
		if !r.first[p[i]] {
			i++
			continue
		}
		whole, part := r.at(p[i:])
		if part.Name != "" && !last {
			break
		}
		found, n := whole, len(whole.Value)
		if rest := len(p) - i; part.Name != "" && rest > n && rest > shownPart {
			found, n = part, rest
		}
		if n == 0 {
			i++
			continue
		}
		out = append(append(append(append(out, p[shown:i]...), '['), found.Name...), ']')
		i += n
		shown = i
	}
	out = append(out, p[shown:i]...)
	r.held = bytes.Clone(p[i:])
	return out
}

// at returns the longest secret that p begins with, and one that p is only the
// beginning of.
func (r *redaction) at(p []byte) (whole, part Secret) {
	for _, s := range r.secrets {
		switch {
		case len(s.Value) <= len(p):
			if len(s.Value) > len(whole.Value) && string(p[:len(s.Value)]) == s.Value {
				whole = s
			}
		case strings.HasPrefix(s.Value, string(p)):
			part = s
		}
	}
	return whole, part
}
