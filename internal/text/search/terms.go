package search

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"golang.org/x/text/unicode/norm"
)

// eachTerm yields the terms of a text in order: words in lower case, stemmed where they are
// English, without stop words. A word in camel case also yields its parts. If pairs is set,
// scripts without spaces yield every pair of neighbouring characters.
func eachTerm(text string, pairs bool, yield func(string)) {
	text = norm.NFKC.String(strings.ToValidUTF8(text, " "))
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if !isWord(r) {
			text = text[size:]
			continue
		}
		end := strings.IndexFunc(text, func(r rune) bool { return !isWord(r) })
		if end < 0 {
			end = len(text)
		}
		run := text[:end]
		text = text[end:]
		for len(run) > 0 {
			r, _ := utf8.DecodeRuneInString(run)
			dense := isDense(r)
			cut := strings.IndexFunc(run, func(r rune) bool { return isDense(r) != dense && !unicode.IsMark(r) })
			if cut < 0 {
				cut = len(run)
			}
			switch {
			case !dense:
				eachPart(run[:cut], yield)
			case pairs:
				eachPair(run[:cut], yield)
			}
			run = run[cut:]
		}
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// isDense reports whether a character is of a script that is written without spaces.
func isDense(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// isPair reports whether a term is a pair of characters of such a script.
func isPair(term string) bool {
	first, _ := utf8.DecodeRuneInString(term)
	return isDense(first)
}

// eachPart yields a word and, if it is in camel case, its parts.
func eachPart(word string, yield func(string)) {
	if len(word) > maxTerm {
		return
	}
	term(word, yield)
	start := 0
	before := rune(0)
	for i, r := range word {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(before) {
			term(word[start:i], yield)
			start = i
		}
		before = r
	}
	if start > 0 {
		term(word[start:], yield)
	}
}

func term(word string, yield func(string)) {
	word = strings.ToLower(word)
	if stopWords[word] {
		return
	}
	if isASCII(word) {
		word = stem(word)
	}
	yield(word)
}

// ofAsking holds the stems of words that users write in any request, whatever its subject.
var ofAsking = func() map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(`
		able add anything ask best better build bye change check come create day do edit everything explain feel file find
		fix friend fun get give go good great guy hello help hey hi hope idea improve job joke kind know later learn like
		long look lot love many mean mind minute much name need new next nice nothing ok okay old open people person place
		please problem question quick quickly read really remember result right run say see send set show skill some
		someone something sorry start stop sure take talk task tell thank thanks thing think time today tomorrow tonight
		try turn update way week well wonder word work world write wrong year yes yesterday yet`) {
		set[stem(word)] = true
	}
	return set
}()

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// stems caches the stems of words. The hash of a word chooses its slot. Texts repeat few words,
// and stemming takes most of the time of Build.
var (
	stems    [1 << 13]atomic.Pointer[stemmed]
	stemSeed = maphash.MakeSeed()
)

type stemmed struct{ word, stem string }

// stem returns the stem of an English word by the Porter2 algorithm.
func stem(word string) string {
	slot := &stems[maphash.String(stemSeed, word)%uint64(len(stems))]
	if known := slot.Load(); known != nil && known.word == word {
		return known.stem
	}
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	s := &stemmed{strings.Clone(word), strings.Clone(env.Current())}
	slot.Store(s)
	return s.stem
}

// eachPair yields all pairs of neighbouring characters, or a single character. It skips those
// with a stop character.
func eachPair(run string, yield func(string)) {
	yieldText := func(text string) {
		if !strings.ContainsAny(text, stopCharacters) {
			yield(text)
		}
	}
	_, first := utf8.DecodeRuneInString(run)
	if first == len(run) {
		yieldText(run)
		return
	}
	for len(run) > first {
		_, second := utf8.DecodeRuneInString(run[first:])
		yieldText(run[:first+second])
		run, first = run[first:], second
	}
}

// stopCharacters are characters of Chinese pronouns and particles, which say nothing of a task.
const stopCharacters = "我你您他她们的了吗呢吧请帮"

// splitName replaces the separators between the words of a name with spaces.
func splitName(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '-', '_', '.', ':':
			return ' '
		}
		return r
	}, name)
}

// stopWords are English words that occur in every text, and the endings of contractions.
var stopWords = func() map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(`
		a about above after again against all also am an and any are as at be because been before being below between
		both but by can cannot could d did do does doing down during each few for from further had has have having he
		her here hers herself him himself his how i if in into is it its itself just let ll m make me more most my
		myself need no nor not now of off on once only or other our ours ourselves out over own please re s same she
		should so some such t than that the their theirs them themselves then there these they this those through to
		too under until up use used user using ve very want was we were what when where which while who whom why will
		with would you your yours yourself yourselves`) {
		set[word] = true
	}
	return set
}()
