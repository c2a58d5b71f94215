package chat

import "time"

// Bounds of the questions that a person is asked.
const (
	// maxQuestions is how often one question is asked before its answer is no.
	maxQuestions = 3
	// maxShown is how much of the arguments of a call a question shows, in bytes: some screens.
	maxShown = 8 << 10
)

// Bounds of files.
const (
	// maxAttached is the largest file of --attach, in bytes. It is kept in memory.
	maxAttached = 64 << 20
	// maxSniffed is how much of a file is read to find its type, in bytes. Types of archives are
	// known after 3 KiB.
	maxSniffed = 3 << 10
	// maxKept is the largest file of a conversation, in bytes. It is read whole.
	maxKept = 256 << 20
	// maxSameNames is how many files of one name --out writes, each with its number.
	maxSameNames = 1000
)

// maxTimeout is the longest time that --timeout takes. A call of skill_run may have no more.
const maxTimeout = 24 * time.Hour

// warnTokens is how many tokens a content budget of one number warns of. It is the default of the
// library.
const warnTokens = 10_000
