package shellcmd

const (
	// maxLength is the longest text, in bytes, that is parsed.
	maxLength = 64 << 10
	// maxDepth is the deepest nesting of brackets that is parsed: the parser's
	// memory grows with it.
	maxDepth = 200
)
