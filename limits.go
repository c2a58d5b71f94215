package satchel

const (
	// defaultForkTurns is how many model calls a fork may make. maxForkNames is how many skills one
	// diagnostic names.
	defaultForkTurns = 20
	maxForkNames     = 10
	// defaultWarnTokens and defaultMaxTokens are the defaults of Loading.Budget, in estimated
	// tokens. A skill has a few thousand, so several fit before the warning. The most leaves
	// half of a context window of 128,000 to the conversation.
	defaultWarnTokens = 10_000
	defaultMaxTokens  = 64_000
)
