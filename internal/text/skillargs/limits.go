package skillargs

const (
	// Max is the most that the arguments of one load may have, in bytes. They are a line that a person
	// or a model writes.
	Max = 4 << 10
	// maxGrowth is how much longer than its body a rendered text may be, in bytes. A body may repeat
	// long arguments any number of times.
	maxGrowth = 1 << 20
	// MaxNames is how many names a skill may declare.
	MaxNames = 64
	// MaxName is the longest name that can be a placeholder, in bytes.
	MaxName = 64
	// maxIndex is the longest "[n]" that is read, in bytes.
	maxIndex = 24
)
