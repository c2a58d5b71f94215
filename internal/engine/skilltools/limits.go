package skilltools

// Bounds of skill_read, within [tools.Limits]. Bytes are counted as encoded in JSON.
const (
	// pageLines bounds the lines of a page: more are rarely read at once.
	pageLines = 1000
	// pageBytes bounds the bytes of a page, half of a whole answer. A longer line gets a
	// page of its own.
	pageBytes = 32 << 10
	// headRoom is reserved in an answer for the head line and the notes of a page.
	headRoom = 2 << 10
	// headBytes of a file are enough to detect its type.
	headBytes = 3 << 10
)

// maxResolved bounds the names above the cap that a load resolves.
const maxResolved = 100

// maxDocBytes bounds the docs that one call may deliver, in bytes. More would not fit into the
// context window of any model.
const maxDocBytes = 1 << 20

// Bounds of sections of docs.
const (
	// longDocTokens is how many estimated tokens a doc has at most whose sections no list names.
	longDocTokens = 1500
	// maxListedHeadings bounds the headings that a list or an error names of one doc.
	maxListedHeadings = 40
	// maxSections bounds the sections that one call may name.
	maxSections = 64
	// maxNear bounds the headings that an error suggests.
	maxNear = 5
	// maxSized bounds the docs that a list reads to find their headings, and maxSizedBytes
	// their bytes.
	maxSized      = 100
	maxSizedBytes = 4 << 20
	// maxDocName bounds the bytes of the name of a section. maxSplits bounds the places at which
	// it is split.
	maxDocName = 1 << 10
	maxSplits  = 8
)

// Bounds of the docs that a body names.
const (
	// maxListedRefs bounds the paths of a list. The rest is a count.
	maxListedRefs = 40
	// maxInlineRefs bounds the docs that come with a body.
	maxInlineRefs = 16
	// maxInlineTokens bounds the text of these docs, in estimated tokens.
	maxInlineTokens = 6000
)

// Bounds of a search and its answer.
const (
	// defaultHits is how many skills an answer names if the call sets no limit.
	defaultHits = 8
	// maxHits is the largest limit that a call may set.
	maxHits = 20
	// maxPhrasings bounds the wordings of a call. The index is searched once for each.
	maxPhrasings = 8
	// maxPhrasing bounds a wording, in runes. The rest is cut.
	maxPhrasing = 500
	// maxDescribed bounds the description of a skill in an answer, in runes.
	maxDescribed = 300
	// maxListTokens bounds the described skills of an answer, in estimated tokens.
	maxListTokens = 1500
)
