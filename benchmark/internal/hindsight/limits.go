package hindsight

const (
	// Beam is how many paths Optimum keeps after each turn.
	Beam = 64
	// branching is the number of units up to which Optimum tries each subset.
	branching = 5
)
