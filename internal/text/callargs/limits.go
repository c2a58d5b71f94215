package callargs

const (
	// MaxBytes bounds the raw arguments of a call. A model writes no more in one response.
	MaxBytes = 1 << 20
	// maxElements bounds the elements of one field.
	maxElements = 256
	// MaxNamed is how many of the mistakes of a call its answer names.
	MaxNamed = 5
)
