package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// meaning is what one message says of one document.
type meaning struct {
	score float64
	terms int // matching terms
	// subjects counts, in halves, the matching terms that are not of asking and are in the name, the
	// description, the tags or the headings. A pair counts as one half, other terms as two.
	subjects  int
	isOfSkill bool // the name holds the word "skill"
}

// ofGreeting holds the stems of greetings and of days, beside the words of asking.
var ofGreeting = func() map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(`afternoon evening goodbye morning night month
		monday tuesday wednesday thursday friday saturday sunday`) {
		set[stem(word)] = true
	}
	return set
}()

// isAsking reports whether a term of a message says little about its subject.
func isAsking(term string) bool { return ofAsking[term] || ofGreeting[term] }

// message adds what a message says of the documents to their totals. The documents that it most
// likely means become strong: the best one if its evidence is enough, and those that come near.
// Where the message names skills, words decide.
func (s *searching) message(text string, terms []string, namesSkills bool) {
	if s.meanings == nil {
		s.meanings = make([]meaning, s.index.Len())
	}
	s.found = s.found[:0]
	most := 0.0 // the score that no document can exceed
	hasSubject := false
	for _, term := range terms {
		if !isTopic(term) {
			continue
		}
		p := s.index.terms[term]
		worth := 2 * s.index.idfOfMessages(term, p.documents)
		if isAsking(term) {
			worth *= askingWeight
		} else {
			hasSubject = true
		}
		most += worth
		if p.documents > 0 {
			s.addMessageTerm(term, p, worth)
		}
	}
	best, second, named := s.bestMeanings()
	v := vectorsOfMessage(text)
	if v.parts[allWords] != (vector{}) && v.known >= leastKnown && hasSubject && named == 0 && !namesSkills {
		s.byEvidence(text, &v)
		return
	}
	isEnough := best.terms > 0 && s.isEnough(&best, second, most)
	least := best.score * min(nearBase+nearSlope*s.logSize(), 1)
	for _, document := range s.found {
		m := s.meanings[document]
		s.meanings[document] = meaning{}
		s.touch(document)
		t := &s.total[document]
		t.score += m.score
		switch {
		case named > 0:
			if m.isOfSkill && m.terms > 1 && m.score >= named*nearBase {
				t.strong++
			}
		case isEnough && m.score >= least && (m.subjects > 0 || best.subjects == 0):
			t.strong++
		}
	}
}

// evidence is what the words of a message and its vector say of each document.
type evidence struct {
	of   []float64 // by document
	best []int     // the documents with the most evidence, in order
	// isMeant reports that the message means a document.
	isMeant bool
}

// parts are what a message says of one document.
type parts struct{ cosine, similar, score, terms float64 }

// evidence compares a message with all documents, and with the most likely ones word by word. The vector of
// all words must not be zero.
func (s *searching) evidence(text string, message *messageVectors) evidence {
	x, v := s.index, &message.parts[allWords]
	e := evidence{of: make([]float64, x.Len())}
	scale := inverseRoot(v.dotFirst(v))
	for document := range e.of {
		p := s.parts(document)
		p.cosine = float64(v.dotFirst(&x.vectors[document])) * x.perFirst[document] * scale
		e.of[document] = p.evidence() - lengthWeight*x.words.logs[document]
	}
	e.best = greatest(e.of, mostSimilar)
	similar := newSimilar(x.words, text)
	scale = inverseRoot(v.dot(v))
	var best parts
	whole := make([]float64, len(e.best))
	for i, document := range e.best {
		p := s.parts(document)
		p.cosine = float64(v.dot(&x.vectors[document])) * x.perLength[document] * scale
		p.similar = similar.of(document)
		whole[i] = p.evidence() - lengthWeight*x.words.logs[document]
		if i == 0 || whole[i] > slices.Max(whole[:i]) {
			best = p
		}
	}
	least := slices.Min(whole)
	for document, found := range e.of { // others stay behind the compared ones
		e.of[document] = min(found, least)
	}
	for i, document := range e.best {
		e.of[document] = whole[i]
	}
	slices.SortStableFunc(e.best, func(a, b int) int { return cmp.Compare(e.of[b], e.of[a]) })
	e.isMeant = s.isMeant(&best, similar, loadedVocabulary().tasks.score(message))
	return e
}

// parts returns what the words of the message say of a document.
func (s *searching) parts(document int) parts {
	m := &s.meanings[document]
	return parts{score: m.score, terms: float64(min(m.terms, mostTerms))}
}

func (p *parts) evidence() float64 {
	return cosineWeight*p.cosine + similarWeight*p.similar + scoreWeight*p.score + termWeight*p.terms
}

// isMeant reports whether a message means any document. p is what it says of the most likely one, and task how
// much it is a task. The more documents there are, the better one of them fits by chance.
func (s *searching) isMeant(p *parts, message *similar, task float64) bool {
	sum := meantBase + meantCosine*p.cosine + meantSimilar*p.similar + meantTerm*p.terms + meantTask*task +
		meantSize*math.Log(float64(s.index.Len()+publicSkills)) + meantWord*float64(len(message.weights))
	if message.isTerse {
		sum += meantTerse
	}
	return sum >= 0
}

// greatest returns the places of the n greatest values, in their order. Of equal ones the first count.
func greatest(values []float64, n int) []int {
	var places []int
	for i, value := range values {
		if len(places) == n {
			if value <= values[places[n-1]] {
				continue
			}
			places = places[:n-1]
		}
		at := len(places)
		places = append(places, i)
		for ; at > 0 && values[places[at-1]] < value; at-- {
			places[at] = places[at-1]
		}
		places[at] = i
	}
	return places
}

// byEvidence adds the evidence for the documents to the totals. If the message means a document, the best
// one becomes strong, and those that come near.
func (s *searching) byEvidence(text string, message *messageVectors) {
	e := s.evidence(text, message)
	if e.isMeant {
		for _, document := range e.meant() {
			if s.meanings[document].terms == 0 {
				s.add(document, e.of[document])
			}
			s.total[document].strong++
		}
	}
	for document, found := range e.of {
		if s.meanings[document].terms > 0 {
			s.add(document, found)
		}
		s.meanings[document] = meaning{}
	}
}

// meant returns the documents that a message means if it means any: the most likely one, and others that are
// likely enough.
func (e *evidence) meant() []int {
	most := e.of[e.best[0]]
	likely := make([]float64, len(e.best))
	sum := 0.0
	for i, document := range e.best {
		likely[i] = math.Exp((e.of[document] - most) / evidenceScale)
		sum += likely[i]
	}
	n := 1
	for n < len(likely) && likely[n] >= leastLikely*sum {
		n++
	}
	return e.best[:n]
}

// add adds evidence to the total of a document.
func (s *searching) add(document int, evidence float64) {
	s.touch(document)
	s.total[document].score += max(0, evidence)
}

// addMessageTerm adds one term to the meanings of the documents that hold it. worth is the most that
// it can add to a score.
func (s *searching) addMessageTerm(term string, p posting, worth float64) {
	isSubject, halves := !isAsking(term), 2
	if isPair(term) {
		halves = 1
	}
	s.index.each(p, func(document int, c *counts) {
		m := &s.meanings[document]
		if m.terms == 0 {
			s.found = append(s.found, document)
		}
		m.terms++
		weight := s.index.weight(document, c)
		m.score += worth * weight / (1 + weight)
		if isSubject && (c[inName] > 0 || c[inDescription] > 0 || c[inTags] > 0 || c[inHeadings] > 0) {
			m.subjects += halves
		}
		m.isOfSkill = m.isOfSkill || c[inName] > 0 && term == "skill"
	})
}

// bestMeanings returns the best meaning and the second best score. named is the best score of a
// document about skills, if the message is about skills and something else.
func (s *searching) bestMeanings() (best meaning, second, named float64) {
	for _, document := range s.found {
		m := s.meanings[document]
		switch {
		case m.score > best.score:
			best, second = m, best.score
		case m.score > second:
			second = m.score
		}
		if m.isOfSkill && m.terms > 1 {
			named = max(named, m.score)
		}
	}
	return best, second, named
}

func (s *searching) logSize() float64 { return math.Log(1 + float64(s.index.Len())) }

// isEnough reports whether the message means the document with the best meaning, or any at all. The
// more documents there are, the more of them share a word with a message by chance. second is the
// score of the next document, and most the one that none can exceed.
func (s *searching) isEnough(best *meaning, second, most float64) bool {
	size := s.logSize()
	switch {
	case best.subjects >= 2 && best.score >= wholeShare*most && best.score >= wholeBase+wholeSlope*size:
		return true
	case best.subjects >= 4:
		return best.score >= severalBase+severalSlope*size
	case best.subjects >= 2:
		return best.score >= oneBase+oneSlope*size*size && best.score >= most*(shareBase+shareSlope*size*size)
	}
	return best.subjects == 0 && best.score >= bodySlope*size && best.score >= bodyLead*second
}
