package judging

const (
	// maxPath bounds a path that is compared with patterns, in bytes. It is the bound of
	// the text of a permission.Request.
	maxPath = 4096
	// maxRules is how many entries of one list are read, and maxRule the length of one, in
	// bytes. Others allow nothing.
	maxRules = 512
	maxRule  = 1024
	// maxStars is how many "*" a pattern about commands may have.
	maxStars = 64
	// maxGroups is how many groups in braces a pattern about files may have, and
	// maxAlternatives how many patterns they may stand for in all.
	maxGroups       = 16
	maxAlternatives = 64
	// maxWritten bounds the alternatives of one list, in bytes. Each takes 40 times its size.
	maxWritten = 64 << 10
	// maxActions is how many actions of one call are compared with patterns.
	maxActions = 256
	// maxWork bounds the comparisons of one decision. One unit is a step of a pattern along a
	// path, or 8 bytes of a command: a decision takes a fraction of a second at worst.
	// checkEvery is how much work is done between two looks at the context.
	maxWork    = 1 << 24
	checkEvery = 1 << 16
	// maxNamed is how many entries of lists a denial names, and maxNamedEntry the length of
	// one, in bytes.
	maxNamed      = 40
	maxNamedEntry = 120
	// maxFindings is how many findings about one list are reported.
	maxFindings = 20
)
