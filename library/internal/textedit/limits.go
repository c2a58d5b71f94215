package textedit

// The bounds of a change.
const (
	// MaxHunks is how many hunks a diff may have. Each hunk is searched in the whole text.
	MaxHunks = 1000
	// MaxEdits is how many edits a change may have.
	MaxEdits = 100
	// maxOffset is how many lines a start line may be off and still decide between several
	// places.
	maxOffset = 20
	// maxPlaces is how many places of a line are compared one by one. Beyond it the text is
	// read once from start to end.
	maxPlaces = 32
	// maxMisses is how many places of a folded text may turn out to begin or end within a
	// character, such as an ellipsis.
	maxMisses = 1000
	// maxIndentSteps is how many bytes of a change are compared for their indentation: some
	// tenths of a second.
	maxIndentSteps = 64 << 20
)

// The bounds of a difference.
const (
	// context is how many equal lines stand around a change, as with diff -u.
	context = 3
	// MaxNumbered is how many bytes of a numbered difference are written.
	MaxNumbered = 1 << 20
	// maxTable is how many pairs of lines are compared one by one. Beyond it, lines that both
	// texts have once divide the work.
	maxTable = 1 << 20
	// maxDepth is how often the work is divided before a difference counts as one change.
	maxDepth = 16
)

// The bounds of an error text.
const (
	quotedRunes = 120     // runes of a quoted line
	namedPlaces = 10      // places that are named
	voters      = 200     // places of a line beyond which it says little about where to look
	maxVotes    = 100_000 // places of all lines that are counted
)
