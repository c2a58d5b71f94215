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
	// maxDescribedWords is how many distinct words of a name and description are compared one by one with
	// those of messages, and maxComparedWords how many of a message.
	maxDescribedWords = 256
	maxComparedWords  = 24
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
	// The evidence for a document is a sum of parts, each with a weight. Parts are the cosine, the similar words,
	// the score, and the number of matching terms, of which at most mostTerms count. The fitted weight of the score is
	// below zero: beside the number of matching terms, it counts rare terms too much. The logarithm of the number
	// of words is taken off: long texts are similar to more messages by chance.
	cosineWeight, similarWeight, scoreWeight, termWeight, lengthWeight = 13.15, 0.335, -0.049, 1.054, 0.885

	mostTerms = 6
	// Words are similar from a cosine of leastSimilar. Cosines above leastSimilar plus similarRange count as
	// that, because the score counts equal words.
	leastSimilar, similarRange = 0.25, 0.3
	// mostSimilar is how many documents are compared word by word: those with the most other evidence.
	mostSimilar = 16
	// A message means a document if the sum of these terms is not negative. Three are the parts of the evidence for
	// the most likely document. meantTask is for how much the message is a task, and meantSize for the logarithm of
	// the number of documents and publicSkills. meantWord is for the number of compared words of the message, and
	// meantTerse for messages in which all words are compared.
	meantBase                                   = -5.27
	meantCosine, meantSimilar, meantTerm        = 9.49, 0.194, 0.41
	meantTask, meantSize, meantWord, meantTerse = 0.626, -0.3, 0.132, 2.2
	// How likely a compared document is grows by a factor e with each evidenceScale of its evidence. Beside the most
	// likely one, those are meant that have at least the share leastLikely of the sum of all compared ones.
	evidenceScale, leastLikely = 1.5, 0.12
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
