package steps

import (
	"slices"
	"strings"
)

// clause returns the tokens between the beginning of the clause of a mention and the mention. A
// new clause begins after a mark, a conjunction, and a word such as "and" before a verb of using.
func (s *sentence) clause(m *mention) []token {
	begin := 0
	for i := m.first - 1; i >= 0 && begin == 0; i-- {
		switch t := s.tokens[i]; {
		case t.kind == comma && s.isInserted(i):
		case t.kind == clauseEnd || t.kind == comma || t.kind == colon,
			t.kind == plainWord && s.beginsClauseAt(i),
			t.kind == plainWord && joinWords[t.text] && i+1 < m.first && useWords[s.tokens[i+1].text]:
			begin = i + 1
		}
	}
	return s.tokens[begin:m.first]
}

// isInserted reports whether a comma stands before or after words that are inserted between a negation
// and a verb of using. Examples are "don't, under any circumstances, use it" and "never, ever use it".
func (s *sentence) isInserted(at int) bool {
	first, last := at, at
	if at > 0 && notWords[s.tokens[at-1].text] {
		for last++; last < len(s.tokens) && last-first <= maxInserted && s.tokens[last].kind == plainWord; last++ {
			if s.tokens[last].text == "ever" {
				return true
			}
		}
	} else {
		for first--; first > 0 && last-first <= maxInserted && s.tokens[first].kind == plainWord; first-- {
		}
	}
	return first > 0 && last+1 < len(s.tokens) && s.tokens[first].kind == comma && s.tokens[last].kind == comma &&
		notWords[s.tokens[first-1].text] && useWords[s.tokens[last+1].text]
}

// beginsClauseAt reports whether the word at an index begins a clause. "instead of" and "all but" do
// not.
func (s *sentence) beginsClauseAt(i int) bool {
	switch text := s.tokens[i].text; text {
	case "instead":
		return i+1 == len(s.tokens) || s.tokens[i+1].text != "of"
	case "but":
		return i == 0 || !slices.Contains([]string{"anything", "everything", "all"}, s.tokens[i-1].text)
	default:
		return clauseWords[text]
	}
}

// isDenied reports whether the message asks not to use the skills of a mention. Two denials cancel
// each other, as in "do not forget the pdf skill".
func (s *sentence) isDenied(m *mention) bool {
	words := s.clause(m)
	if m.head != "" || isDenseLine(words) || isDenseLine(s.tokens[m.first:m.end]) {
		return s.isDenseDenied(m)
	}
	count := 0
	if hasNot(words) {
		count++
	}
	if isAgainst(words) || s.isLeftOut(m, words) {
		count++
	}
	return count%2 == 1 || count == 0 && s.isDeniedAfter(m)
}

// hasNot reports whether the words before a skill deny it. A negation before "with" is about
// something else, unless it begins the clause or directly precedes "with".
func hasNot(words []token) bool {
	for i := len(words) - 1; i >= 0; i-- {
		if !notWords[words[i].text] {
			continue
		}
		if i+1 < len(words) && addressed[words[i+1].text] {
			continue
		}
		before := words[:i]
		if ne := slices.IndexFunc(before, func(t token) bool { return t.text == "ne" }); ne >= 0 {
			before = before[:ne]
		}
		with := slices.IndexFunc(words[i+1:], func(t token) bool { return withWords[t.text] })
		if with <= 0 || beginsClause(before) {
			return true
		}
	}
	return false
}

// beginsClause reports whether the words before a negation say nothing by themselves.
func beginsClause(words []token) bool {
	return !slices.ContainsFunc(words, func(t token) bool { return !fillerWords[t.text] })
}

// isAgainst reports whether a word such as "without" directly precedes the skill.
func isAgainst(words []token) bool {
	for i := len(words) - 1; i >= 0; i-- {
		switch text := words[i].text; {
		case againstWords[text], (text == "instead" || text == "rather") && i+1 < len(words):
			return true
		case text == "but" && i > 0 && (words[i-1].text == "anything" || words[i-1].text == "everything" || words[i-1].text == "all"):
			return true
		case outWords[text] && i > 0 && leaveWords[words[i-1].text]:
			return true
		case text == "plutôt" && i+1 < len(words) && words[i+1].text == "que":
			return true
		case text == "lieu" || text == "lugar" || text == "vez":
			return true
		case !betweenWords[text] && !notWords[text]:
			return false
		}
	}
	return false
}

// isLeftOut reports whether the words around a mention leave it out, as in "leave the pdf skill out".
func (s *sentence) isLeftOut(m *mention, words []token) bool {
	if m.end == len(s.tokens) || !outWords[s.tokens[m.end].text] {
		return false
	}
	for len(words) > 0 && betweenWords[words[len(words)-1].text] {
		words = words[:len(words)-1]
	}
	return len(words) > 0 && leaveWords[words[len(words)-1].text]
}

// isDeniedAfter reports whether the words after a mention deny it, as in "den pdf-Skill nicht" and
// "the pdf skill is not needed".
func (s *sentence) isDeniedAfter(m *mention) bool {
	end := m.end
	for end < len(s.tokens) {
		t := s.tokens[end]
		if t.kind != plainWord || clauseWords[t.text] || joinWords[t.text] {
			break
		}
		end++
	}
	words := s.tokens[m.end:end]
	for i, t := range words {
		switch t.text {
		case "nicht":
			if i+1 == len(words) || !withWords[words[i+1].text] {
				return true
			}
		case "not", "isn't", "isn’t", "shouldn't", "shouldn’t", "mustn't", "mustn’t", "needn't", "needn’t", "never", "unnecessary", "ne", "no":
			if i <= 2 && (t.text == "unnecessary" || hasWord(words[i:], needed) || hasWord(words[i:], obliged) && hasWord(words[i:], used)) {
				return true
			}
		}
	}
	return false
}

func hasWord(words []token, set map[string]bool) bool {
	return slices.ContainsFunc(words, func(t token) bool { return set[t.text] })
}

// isDenseDenied is isDenied for Chinese and Japanese.
func (s *sentence) isDenseDenied(m *mention) bool {
	before := textOf(s.clause(m)) + m.head
	after := m.tail
	for i := m.end; i < len(s.tokens) && s.tokens[i].kind != clauseEnd && s.tokens[i].kind != comma; i++ {
		if text := s.tokens[i].text; i > m.end || text != "" && !strings.HasSuffix(text, m.tail) {
			after += text
		}
	}
	count := 0
	if containsAny(before, denseNot) || hasNot(s.clause(m)) {
		count++
	}
	if containsAny(after, laterNot) || slices.ContainsFunc(denseNotAfter, func(not string) bool {
		return strings.HasPrefix(strings.TrimLeft(after, "就也都还可以"), not)
	}) {
		count++
	}
	if count > 0 && containsAny(before+after, denseForget) {
		return false
	}
	return count > 0
}

func textOf(words []token) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.text)
	}
	return b.String()
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// isMeant reports whether a mention means skills of the agent. The user's own skills and skills that
// do not exist yet need a word of using before them. "my pdf skills" are the user's in any case.
func (s *sentence) isMeant(m *mention) bool {
	words := s.clause(m)
	isPlural := s.tokens[m.skill].isPlural
	if s.isMade(m, words) {
		return false
	}
	if m.head != "" && containsAny(m.head, denseOwn) || len(words) > 0 && containsAny(words[len(words)-1].text, denseOwn) {
		return containsAny(textOf(words)+m.head, denseUses)
	}
	for i := len(words) - 1; i >= max(0, len(words)-3); i-- {
		text := words[i].text
		switch {
		case useWords[text]:
			return true
		case ownWords[text] && isPlural && !m.isAfter:
			return false
		case ownWords[text] || anyWords[text]:
			return i > 0 && useWords[words[i-1].text]
		}
	}
	return !isPlural || m.isAfter || len(m.names) > 1
}

// isMade reports whether a mention in Chinese or Japanese is about a skill to write. words are those
// before it.
func (s *sentence) isMade(m *mention, words []token) bool {
	head := m.head
	if head == "" && len(words) > 0 {
		head = words[len(words)-1].text
	}
	head = trimAny(head, denseNew, strings.CutSuffix)
	return slices.ContainsFunc(denseMakes, func(verb string) bool { return strings.HasSuffix(head, verb) }) ||
		!m.isAfter && slices.ContainsFunc(denseMakesAfter, func(verb string) bool { return strings.HasPrefix(m.tail, verb) })
}
