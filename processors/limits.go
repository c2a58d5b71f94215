package processors

// Bounds of an overview.
const (
	// defaultOverviewTokens bounds the overview if the host sets no budget, in estimated
	// tokens. It stands in every request.
	defaultOverviewTokens = 4000
	// frameTokens is the part of the budget that is reserved for the lines around the list.
	frameTokens = 60
	// minDescription is the number of characters below which no description is shortened: a
	// shorter one says too little to choose by.
	minDescription = 60
	// wordEnd is the number of characters after a cut within which the end of a word counts.
	wordEnd = 40
)

// noteTokens bounds each list in a note of catalog changes, in estimated tokens.
const noteTokens = 1000
