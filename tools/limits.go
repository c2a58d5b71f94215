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

// Bounds of an answer, in bytes as encoded in JSON.
const (
	// minAnswer is the smallest limit of an answer: an error must fit.
	minAnswer = 4 << 10
	// defaultAnswer is about 16,000 tokens: models with short contexts keep room.
	defaultAnswer = 64 << 10
	// defaultInlineFile lets an answer show several files.
	defaultInlineFile = 16 << 10
	// defaultInlineTotal leaves a quarter of an answer to the output of the command.
	defaultInlineTotal = 48 << 10
)

// OrDefaults returns the limits with every zero field replaced by its default.
func (l Limits) OrDefaults() Limits {
	for _, f := range []struct {
		field    *int
		standard int
	}{{&l.Answer, defaultAnswer}, {&l.InlineFile, defaultInlineFile}, {&l.InlineTotal, defaultInlineTotal}} {
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

// References says what a load does with the docs that the body of a skill names.
type References uint8

// The ways of references.
const (
	// ReferencesOff does nothing: the body names them already. The default.
	ReferencesOff References = iota
	// ReferencesList adds a list of them after the body.
	ReferencesList
	// ReferencesInline adds them to the body if they are few and short.
	ReferencesInline
)
