package judging

const (
	// maxPath bounds a path that is compared with patterns, in bytes. The text of a
	// permission.Request has the same bound.
	maxPath = 4096
	// maxRules is how many entries of one list are read, and maxRule the length of an entry, in
	// bytes. Entries beyond these bounds allow nothing.
	maxRules = 512
	maxRule  = 1024
	// maxStars is how many "*" a command pattern may have.
	maxStars = 64
	// maxGroups is how many groups in braces a path pattern may have, and maxAlternatives how
	// many patterns they may expand to.
	maxGroups       = 16
	maxAlternatives = 64
	// maxAlternativeBytes bounds all expanded patterns of one list, in bytes. In memory they take
	// 40 times their size.
	maxAlternativeBytes = 64 << 10
	// maxActions is how many actions of one call are compared with patterns.
	maxActions = 256
	// maxWork bounds the comparisons of one decision. One unit is a step of a pattern along a
	// path, or 8 bytes of a command. So a decision takes a fraction of a second at worst.
	// checkEvery is how much work is done between two checks of the context.
	maxWork    = 1 << 24
	checkEvery = 1 << 16
	// maxNamed is how many entries of lists a denial names, and maxNamedEntry the length of one,
	// in bytes.
	maxNamed      = 40
	maxNamedEntry = 120
	// maxFindings is how many findings about one list are reported.
	maxFindings = 20
)
