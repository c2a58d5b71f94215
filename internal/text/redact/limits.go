package redact

const (
	// minForm is the length in bytes from which on a form of a secret is searched for:
	// shorter ones occur in any text by accident. minLine is the same for a line.
	minForm = 4
	minLine = 8
	// shownPart is how many bytes of a secret may remain where a text was cut. So
	// few bytes match by accident.
	shownPart = 2
)
