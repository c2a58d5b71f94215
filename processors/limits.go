package processors

// Limits of an overview.
const (
	// defaultOverviewTokens limits the overview if the host sets no budget, in estimated tokens.
	// Every request contains it.
	defaultOverviewTokens = 4000
	// frameTokens is the part of the budget for the lines around the list.
	frameTokens = 60
	// minDescription is the shortest length of a shortened description, in characters: a shorter
	// one is useless for choosing a skill.
	minDescription = 60
	// wordEnd is how many characters after a cut the end of a word is searched.
	wordEnd = 40
)

// noteTokens limits each list in a note of catalog changes, in estimated tokens.
const noteTokens = 1000
