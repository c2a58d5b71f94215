package search

const (
	// maxReaders bounds the goroutines that read documents: more do not make it faster.
	maxReaders = 8
	// maxPhrasings is how many wordings of a query count, and maxPhrasing the runes of each.
	maxPhrasings = 8
	maxPhrasing  = 500
	// maxNameWords is how many words a name may have if a user writes it with spaces.
	maxNameWords = 5
	// maxBody is how much of the prose of a body is indexed, in bytes. A skill's purpose is at
	// its beginning.
	maxBody = 8 << 10
	// maxPiece is the longest piece of the vocabulary of the sentence model, in bytes, and maxPieces how
	// many pieces of a word count.
	maxPiece  = 24
	maxPieces = 20
	// maxTerm is the longest term, in bytes: a longer one is data, not a word.
	maxTerm = 64
)

const (
	// MaxCompared is the greatest length of texts that Distance compares. Its time grows with
	// the square of the length.
	MaxCompared = 128
	// maxPath bounds, in bytes, the path for NearestFile. No file system has longer paths.
	maxPath = 4096
)

// Constants of the search for messages. They were fitted to requests over 17, 300 and 5,000 skills;
// TestSuggestions of package catalog holds what they achieve.
const (
	// publicSkills is how many imagined public skills count beside the documents, and rareShare the
	// share of them that contains a word that is not listed.
	publicSkills = 40
	rareShare    = 0.002
	// askingWeight is how much a word of asking counts.
	askingWeight = 0.3
	// leastKnown is the share of words of a message that a vector needs. Other messages are in another
	// language, or about things that have names of their own.
	leastKnown = 0.6
	// The evidence for a document is the sum of the cosine, the score and its share of the greatest
	// possible score, with these weights.
	cosineWeight, scoreWeight, shareWeight = 14.8, 0.77, 4
	// A document needs this evidence; the slope is per natural logarithm of the number of documents.
	enoughBase, enoughSlope = 7.9, 0.74
	// wordsEvidence is how much less that is if the words alone mean a document.
	wordsEvidence = 3
	// Documents are meant too whose evidence is enough and at most nearEvidence less than the best.
	nearEvidence = 6
)

// Constants of the search for messages by words alone. Slopes are per natural logarithm of the number of
// documents.
const (
	// A document with several subjects of the message needs this score.
	severalBase, severalSlope = 2.2, 0.5
	// A document with one subject needs this score, and this share of the greatest possible score.
	oneBase, oneSlope     = 2.4, 0.092
	shareBase, shareSlope = 0.06, 0.0045
	// A document whose subjects are nearly all that the message says needs this share of the greatest
	// possible score, and this score.
	wholeShare            = 0.6
	wholeBase, wholeSlope = 1, 0.2
	// A document with subjects only in its body needs this score, and a lead over the next one.
	bodySlope, bodyLead = 0.9, 1.8
	// Documents with this share of the best score are meant too.
	nearBase, nearSlope = 0.3, 0.065
)
