package search

import (
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
	isEnough := best.terms > 0 && s.isEnough(&best, second, most)
	v, known := vectorOf(text)
	if v != (vector{}) && known >= leastKnown && hasSubject && named == 0 && !namesSkills {
		s.byEvidence(&v, most, isEnough)
		return
	}
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

// byEvidence adds to the totals what the words of a message and its vector say of the documents. The
// vector must not be zero. most is the score that no document can exceed, and isEnough reports that the
// words alone mean a document.
func (s *searching) byEvidence(v *vector, most float64, isEnough bool) {
	evidence := make([]float64, s.index.Len())
	weight := cosineWeight / v.length()
	for document := range evidence {
		evidence[document] = weight * float64(v.dot(&s.index.vectors[document])) * s.index.perLength[document]
		if m := &s.meanings[document]; m.terms > 0 {
			evidence[document] += scoreWeight*m.score + shareWeight*m.score/most
		}
	}
	least := enoughBase + enoughSlope*s.logSize()
	if isEnough {
		least -= wordsEvidence
	}
	least = max(least, slices.Max(evidence)-nearEvidence)
	for document, e := range evidence {
		hasWords, isMeant := s.meanings[document].terms > 0, e >= least
		s.meanings[document] = meaning{}
		if !hasWords && !isMeant {
			continue
		}
		s.touch(document)
		t := &s.total[document]
		t.score += max(0, e)
		if isMeant {
			t.strong++
		}
	}
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
