package redact

const (
	// minForm is the least length in bytes of a form that is searched for: shorter ones occur
	// in any text by accident. minLine is the same for one line of a secret.
	minForm = 4
	minLine = 8
	// shownPart is how many bytes of a secret may stay visible at a cut. A match of so few
	// bytes is likely an accident.
	shownPart = 2
)
