package shellcmd

const (
	// maxLength is the longest text, in bytes, that is parsed.
	maxLength = 64 << 10
	// maxDepth is the deepest nesting of brackets that is parsed. The parser's memory grows
	// with the depth.
	maxDepth = 200
)
