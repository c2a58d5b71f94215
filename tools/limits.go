package tools

// Limits bound the answers to calls, in bytes as encoded in JSON, where a control
// character takes six. The host sets them: a call may ask for less, never for
// more. A zero field stands for its default.
type Limits struct {
	// Answer bounds a whole answer; default 64 KiB, at least 4 KiB.
	Answer int
	// InlineFile and InlineTotal bound how much content an answer shows, of one
	// collected file and of all; the defaults are 16 and 48 KiB.
	InlineFile, InlineTotal int
}

// minAnswer is the smallest limit for an answer: an error must fit.
const minAnswer = 4 << 10

// OrDefaults returns the limits with every zero field replaced by its default.
func (l Limits) OrDefaults() Limits {
	for _, f := range []struct {
		field    *int
		standard int
	}{{&l.Answer, 64 << 10}, {&l.InlineFile, 16 << 10}, {&l.InlineTotal, 48 << 10}} {
		if *f.field <= 0 {
			*f.field = f.standard
		}
	}
	l.Answer = max(l.Answer, minAnswer)
	return l
}

// Budget bounds the text of skills that an agent has in view, in estimated
// tokens. The answer to a call that takes the text in view above Warn says so. A
// call that would take it above Max fails and changes nothing. 0 is no bound.
// Files of skills that skill_read has shown count while requests contain the
// answers. They count against Max until the next message of the user.
type Budget struct{ Warn, Max int }

// References says what becomes of the docs that the body of a skill names.
type References uint8

// The ways of references.
const (
	// ReferencesOff leaves them alone: the body names them already. The default.
	ReferencesOff References = iota
	// ReferencesList lists them behind the body.
	ReferencesList
	// ReferencesInline adds them to the body if they are few and short.
	ReferencesInline
)
