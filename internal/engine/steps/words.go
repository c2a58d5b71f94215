package steps

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// maxNameWords is how many words a name may have if a user writes it with spaces.
const maxNameWords = 5

// maxClause is how many words on each side of a word for "skill" are looked at.
const maxClause = 64

// maxInserted is how many words may stand between commas after a negation.
const maxInserted = 8

// maxDenseName bounds, in characters, a name of a script without spaces beside other text.
const maxDenseName = 32

// Words finds the skills that a message names in words. The name stands next to a word for "skill":
// "use the pdf skill", "pdf-Skill", "la compétence pdf", "用pdf技能". It ignores code blocks.
//
// find returns the skill that a name means. named are skills to load, and denied are those that the
// message asks not to use. Each has at most limit skills, each once and in order. Skills that are not
// the agent's, as in "my pdf skills", are in neither.
func Words(text string, find func(name string) (skill string, ok bool), limit int) (named, denied []string) {
	for _, line := range skilltext.Prose(text) {
		if !hasSkillWord(line) {
			continue
		}
		tokens := lineTokens(line)
		for at, t := range tokens {
			if t.kind != skillWord {
				continue
			}
			begin := max(0, at-maxClause)
			s := sentence{tokens: tokens[begin:min(len(tokens), at+maxClause)], find: find}
			m := s.mentionAt(at - begin)
			switch {
			case len(m.names) == 0:
			case s.isDenied(&m):
				denied = appendNew(denied, m.names, limit)
			case s.isMeant(&m):
				named = appendNew(named, m.names, limit)
			}
		}
	}
	return named, slices.DeleteFunc(denied, func(name string) bool { return slices.Contains(named, name) })
}

func appendNew(all, names []string, limit int) []string {
	for _, name := range names {
		if len(all) < limit && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// sentence is a part of a line of a message.
type sentence struct {
	tokens []token
	find   func(string) (string, bool)
}

// mention is a word for "skill" with the names beside it. The names and the word are in
// tokens[first:end]. If the first name is the end of a run of tokens[first], head is what stands
// before it.
type mention struct {
	names      []string
	skill      int // the index of the word for "skill"
	first, end int
	head, tail string // rest of the runs at the beginning and the end
	isAfter    bool   // the names follow the word
}

// mentionAt returns the mention of the word for "skill" at an index. Names before the word come
// first.
func (s *sentence) mentionAt(at int) mention {
	m := mention{skill: at, first: at, end: at + 1}
	if at+1 < len(s.tokens) && s.tokens[at+1].kind == denseRun {
		m.tail = s.tokens[at+1].text
	}
	s.namesBefore(&m)
	if len(m.names) == 0 {
		m.isAfter = true
		s.namesAfter(&m)
	}
	return m
}

// namesBefore adds the names before the word for "skill", in their order.
func (s *sentence) namesBefore(m *mention) {
	isPlural := s.tokens[m.skill].isPlural
	left := slices.Clone(s.tokens[:m.skill])
	if n := len(left); n > 0 && left[n-1].kind == denseRun {
		left[n-1].text = trimAny(left[n-1].text, denseLinks, strings.CutSuffix)
	}
	hasJoin := false
	for {
		left = dropEmpty(left)
		names, rest := s.lastNames(left, len(m.names) == 0)
		if len(names) == 0 {
			return
		}
		m.names = append(names, m.names...)
		left = rest
		m.first, m.head = len(left), ""
		if n := len(left); n > 0 && left[n-1].kind == denseRun {
			m.head = left[n-1].text
		}
		if isPlural || endsInPart(left) {
			left = dropArticle(left)
		}
		joined, isComma := withoutJoin(left)
		if len(joined) == len(left) && !isComma && !endsInJoin(left) || isComma && !isPlural && !hasJoin && !isDenseLine(s.tokens) {
			return
		}
		hasJoin = hasJoin || !isComma
		left = joined
	}
}

// isDenseLine reports whether tokens contain a script that is written without spaces.
func isDenseLine(tokens []token) bool {
	return slices.ContainsFunc(tokens, func(t token) bool {
		first, _ := utf8.DecodeRuneInString(t.text)
		return isDenseRune(first)
	})
}

func dropEmpty(left []token) []token {
	for len(left) > 0 && left[len(left)-1].kind == denseRun && left[len(left)-1].text == "" {
		left = left[:len(left)-1]
	}
	return left
}

// endsInPart reports whether tokens end in a part of a word, "and" and an article, as in "den pdf- und
// den" before "docx-Skill".
func endsInPart(left []token) bool {
	n := len(left)
	return n > 2 && left[n-3].isPart && joinWords[left[n-2].text] && articles[left[n-1].text]
}

// dropArticle drops an article from the end of tokens if it begins a further part of a list.
func dropArticle(left []token) []token {
	n := len(left)
	if n < 2 || left[n-1].kind != plainWord || !articles[left[n-1].text] {
		return left
	}
	if before := left[n-2]; before.kind == comma || before.kind == plainWord && joinWords[before.text] {
		return left[:n-1]
	}
	return left
}

// endsInJoin reports whether the last run of tokens ends in a word between names.
func endsInJoin(left []token) bool {
	if len(left) == 0 || left[len(left)-1].kind != denseRun {
		return false
	}
	return slices.ContainsFunc(denseJoins, func(join string) bool { return strings.HasSuffix(left[len(left)-1].text, join) })
}

// withoutJoin removes what joins names from the end of tokens: a word, a comma, or both. isComma
// reports that it was only a comma.
func withoutJoin(left []token) (rest []token, isComma bool) {
	n := len(left)
	if n == 0 {
		return left, false
	}
	switch last := left[n-1]; {
	case last.kind == comma:
		return left[:n-1], true
	case last.kind == plainWord && joinWords[last.text]:
		left = left[:n-1]
		if n > 1 && left[n-2].kind == comma {
			left = left[:n-2]
		}
	case last.kind == denseRun:
		left = slices.Clone(left)
		left[n-1].text = trimAny(last.text, denseJoins, strings.CutSuffix)
		left = dropEmpty(left)
	}
	return left, false
}

// trimAny removes the first of the parts that cut finds.
func trimAny(text string, parts []string, cut func(string, string) (string, bool)) string {
	for _, part := range parts {
		if rest, ok := cut(text, part); ok {
			return rest
		}
	}
	return text
}

// lastNames returns the names that end the tokens, and the tokens before them. isNext reports that
// the word for "skill" follows.
func (s *sentence) lastNames(left []token, isNext bool) (names []string, rest []token) {
	n := len(left)
	if n == 0 {
		return nil, left
	}
	if left[n-1].kind == denseRun {
		run := []rune(left[n-1].text)
		for size := min(len(run), maxDenseName); size > 0; size-- {
			if name, ok := s.find(string(run[len(run)-size:])); ok {
				rest = slices.Clone(left)
				rest[n-1].text = string(run[:len(run)-size])
				return []string{name}, dropEmpty(rest)
			}
		}
		return nil, left
	}
	for size := min(maxNameWords, n); size > 0; size-- {
		if joined, ok := joinPlain(left[n-size:]); ok {
			if names := s.findAll(joined, isNext); names != nil {
				return names, left[:n-size]
			}
		}
	}
	return nil, left
}

// joinPlain joins plain words by hyphens.
func joinPlain(words []token) (string, bool) {
	var parts []string
	for _, w := range words {
		if w.kind != plainWord {
			return "", false
		}
		parts = append(parts, w.text)
	}
	return strings.Join(parts, "-"), true
}

// findAll finds a name, a name that ends in "-skill", or names with "/" between them.
func (s *sentence) findAll(joined string, isNext bool) []string {
	if name, ok := s.find(joined); ok {
		return []string{name}
	}
	if isNext {
		if name, ok := s.find(joined + "-skill"); ok {
			return []string{name}
		}
	}
	if !strings.Contains(joined, "/") {
		return nil
	}
	var all []string
	for part := range strings.SplitSeq(joined, "/") {
		name, ok := s.find(part)
		if !ok {
			return nil
		}
		all = append(all, name)
	}
	return all
}

// namesAfter adds the names after the word for "skill".
func (s *sentence) namesAfter(m *mention) {
	isPlural := s.tokens[m.skill].isPlural
	right := slices.Clone(s.tokens[m.skill+1:])
	hasColon := false
	for len(right) > 0 {
		switch first := right[0]; {
		case first.kind == colon:
			hasColon = true
		case first.kind == plainWord && namingWords[first.text]:
		case first.kind == denseRun && slices.Contains(denseLinks, first.text):
		default:
			goto names
		}
		right = right[1:]
	}
names:
	for len(right) > 0 {
		names, rest := s.firstNames(right)
		if len(names) == 0 {
			return
		}
		m.names = append(m.names, names...)
		m.end, m.tail = len(s.tokens)-len(rest), ""
		if len(rest) > 0 && rest[0].kind == denseRun {
			m.tail = rest[0].text
		}
		if len(rest) == 0 {
			return
		}
		switch next := rest[0]; {
		case next.kind == comma && (isPlural || hasColon || isDenseLine(s.tokens)):
			if rest = rest[1:]; len(rest) > 0 && rest[0].kind == plainWord && joinWords[rest[0].text] {
				rest = rest[1:]
			}
		case next.kind == plainWord && joinWords[next.text] && (isPlural || hasColon || s.endsAfterName(rest[1:])):
			rest = rest[1:]
		case next.kind == denseRun && slices.ContainsFunc(denseJoins, func(join string) bool { return strings.HasPrefix(next.text, join) }):
			rest = slices.Clone(rest)
			if rest[0].text = trimAny(next.text, denseJoins, strings.CutPrefix); rest[0].text == "" {
				rest = rest[1:]
			}
		default:
			return
		}
		right = rest
	}
}

// endsAfterName reports whether the tokens are a name and the end of a clause.
func (s *sentence) endsAfterName(right []token) bool {
	names, rest := s.firstNames(right)
	return len(names) > 0 && (len(rest) == 0 || rest[0].kind == clauseEnd || rest[0].kind == comma || rest[0].kind == colon)
}

// firstNames returns the names with which the tokens begin, and the tokens after them.
func (s *sentence) firstNames(right []token) (names []string, rest []token) {
	if len(right) == 0 {
		return nil, right
	}
	if right[0].kind == denseRun {
		run := []rune(right[0].text)
		for size := min(len(run), maxDenseName); size > 1; size-- {
			if name, ok := s.find(string(run[:size])); ok {
				rest = slices.Clone(right)
				if rest[0].text = string(run[size:]); rest[0].text == "" {
					rest = rest[1:]
				}
				return []string{name}, rest
			}
		}
		return nil, right
	}
	for size := min(maxNameWords, len(right)); size > 0; size-- {
		if joined, ok := joinPlain(right[:size]); ok {
			if names := s.findAll(joined, false); names != nil {
				return names, right[size:]
			}
		}
	}
	return nil, right
}
