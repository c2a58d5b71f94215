package skillmd

// The limits of the specification, in characters (code points).
const (
	maxDescription   = 1024
	maxCompatibility = 500
)

// Bounds of what is read of front matter.
const (
	// maxDepth is the nesting of a value; real front matter has 8.
	maxDepth = 64
	// maxKey is the longest key, in bytes; YAML itself stops at 1024.
	maxKey = 256
	// maxChunks is how many fields of invalid YAML are read, because each of them may start the
	// YAML parser several times.
	maxChunks = 256
	// maxLeading is how far, in bytes, Parse looks for front matter that does not start on the
	// first line. It is also how much of that front matter is searched for a name.
	maxLeading = 4096
	// maxRepairedKey is the longest key of a field that is read from invalid YAML, in bytes.
	// Longer ones are probably text.
	maxRepairedKey = 64
	// maxVersion is how much of a version is returned, in bytes. Real ones have less than 20.
	maxVersion = 256
	// maxField is how much of a field of a host is returned, in bytes.
	maxField = 256
	// maxTags is how many tags a skill has, and maxTag the characters of the longest.
	maxTags = 32
	maxTag  = 64
	// maxHint is how many characters of a hint for arguments are returned.
	maxHint = 256
)

// Bounds of the findings about one file.
const (
	// maxDiagnostics is how many findings are reported, because hostile text could have one on
	// each line. Errors are kept beyond it, up to twice as many.
	maxDiagnostics = 64
	// maxSecrets is how many findings are about API keys and private keys.
	maxSecrets = 10
	// maxCommands is how many findings are about commands in the body.
	maxCommands = 10
)
