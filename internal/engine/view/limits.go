package view

const (
	// maxGuards is how many prefix guards a runtime keeps: each holds a request.
	maxGuards = 1000
	// maxParts is how many overviews of audiences are kept. Others are rendered again.
	maxParts = 64
	// maxCuts is how many overviews the log is remembered to have warned of.
	maxCuts = 64
	// maxLikely is how many skills the first message of the user puts before others.
	maxLikely = 50
	// maxMoves is how often in a turn the record is saved because the host has changed what
	// stands before the content.
	maxMoves = 4
	// outlineTokens bounds the outline of a skill, in estimated tokens.
	outlineTokens = 1000
)
