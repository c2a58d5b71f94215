package callargs

const (
	// MaxBytes bounds the raw arguments of a call. No model writes more in one response.
	MaxBytes = 1 << 20
	// maxWraps bounds how often arguments are unwrapped: {"__arg1": …}, a text in it, and the
	// object in that text.
	maxWraps = 3
	// maxQuoted is how many bytes of a wrong value or name an error quotes.
	maxQuoted = 80
	// maxElements bounds the elements of one field.
	maxElements = 256
	// MaxNamed is how many mistakes of a call its answer lists.
	MaxNamed = 5
)
