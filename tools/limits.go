package tools

// Limits bounds the answers to calls, in bytes as encoded in JSON, where a control character
// takes six. The host sets them. A call may ask for less, but not for more. A zero field means
// its default.
type Limits struct {
	// Answer bounds a whole answer. The default is 64 KiB, the minimum 4 KiB.
	Answer int
	// InlineFile and InlineTotal bound the content of collected files in an answer: of one file,
	// and of all. The defaults are 16 and 48 KiB.
	InlineFile, InlineTotal int
}

// Bounds of an answer, in bytes as encoded in JSON.
const (
	// minAnswer is the smallest limit of an answer, so that an error fits.
	minAnswer = 4 << 10
	// defaultAnswer is about 16,000 tokens, which fits into short context windows.
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

// Budget bounds the text of skills in an agent's view, in estimated tokens; 0 means no bound. If
// a call takes the text above Warn, its answer says so. A call that would take it above Max fails
// and changes nothing. Files of skills that skill_read has shown count while requests contain the
// answers. They count against Max until the next user message.
type Budget struct{ Warn, Max int }

// References decides what a load does with the docs that the body of a skill names.
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
