package steps

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// wordKind is the kind of a token of a message.
type wordKind uint8

const (
	plainWord wordKind = iota
	denseRun           // characters of a script that is written without spaces
	skillWord          // a word that means "skill"
	comma              // a mark between the parts of a list
	colon
	clauseEnd
)

// token is a part of a line of a message. text is in lower case.
type token struct {
	text     string
	kind     wordKind
	isPlural bool // of a skillWord
	isPart   bool // a hyphen and a space follow, as in "pdf- und docx-Skill"
}

// hasSkillWord reports whether a line may contain a word that means "skill".
func hasSkillWord(line string) bool {
	lower := strings.ToLower(skilltext.CleanName(line))
	return slices.ContainsFunc(skillStems, func(stem string) bool { return strings.Contains(lower, stem) })
}

// lineTokens returns the tokens of a line outside inline code. Inline code of one word counts as a
// quoted word, other inline code as the end of a clause.
func lineTokens(line string) []token {
	t := tokenizer{rest: skilltext.CleanName(strings.ToValidUTF8(line, " "))}
	for t.rest != "" {
		t.next()
	}
	return t.tokens
}

type tokenizer struct {
	rest   string
	before rune // the character before rest
	inline skilltext.InlineCode
	tokens []token
}

func (t *tokenizer) add(kind wordKind, text string) {
	t.tokens = append(t.tokens, token{text: text, kind: kind})
}

// skip moves past so many bytes.
func (t *tokenizer) skip(n int) {
	t.before, _ = utf8.DecodeLastRuneInString(t.rest[:n])
	t.rest = t.rest[n:]
}

func (t *tokenizer) next() {
	if content, size, isCode := t.inline.At(t.rest); size > 0 {
		if isCode {
			t.code(content)
		}
		t.skip(size)
		return
	}
	r, size := utf8.DecodeRuneInString(t.rest)
	switch {
	case isDenseRune(r):
		end := runEnd(t.rest, isDenseRune)
		t.dense(t.rest[:end])
		t.skip(end)
		return
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		end := plainEnd(t.rest)
		t.plain(t.rest[:end])
		t.skip(end)
		t.tokens[len(t.tokens)-1].isPart = strings.HasPrefix(t.rest, "- ")
		return
	case strings.ContainsRune(",、，&+・", r):
		t.add(comma, "")
	case r == '/' && t.isSpaced(size):
		t.add(comma, "")
	case r == ':' || r == '：':
		t.add(colon, "")
	case strings.ContainsRune(".!?;…—–()。！？；．（）", r), r == '-' && t.isSpaced(size):
		t.add(clauseEnd, "")
	}
	t.skip(size)
}

// isSpaced reports whether there is white space on both sides of the character of that size.
func (t *tokenizer) isSpaced(size int) bool {
	after, _ := utf8.DecodeRuneInString(t.rest[size:])
	return (t.before == 0 || unicode.IsSpace(t.before)) && (len(t.rest) == size || unicode.IsSpace(after))
}

// code adds inline code.
func (t *tokenizer) code(content string) {
	content = strings.TrimSpace(content)
	if content != "" && len(content) <= 4*maxMention && !strings.ContainsFunc(content, unicode.IsSpace) {
		t.add(plainWord, strings.ToLower(strings.TrimLeft(content, "$/")))
	} else {
		t.add(clauseEnd, "")
	}
}

// plain adds a word of a script with spaces. "pdf-Skill" and "skill:pdf" are two words.
func (t *tokenizer) plain(word string) {
	word = strings.ToLower(word)
	for _, ending := range []string{"'s", "’s"} {
		word = strings.TrimSuffix(word, ending)
	}
	if head, tail, ok := strings.Cut(strings.ReplaceAll(word, "’", "'"), "'"); ok && elisions[head] {
		if head == "n" {
			t.add(plainWord, "ne")
		}
		word = tail
	}
	if head, tail, ok := strings.Cut(word, ":"); ok && skillWords[head] != 0 {
		t.plain(head)
		t.add(colon, "")
		t.plain(tail)
		return
	}
	if at := strings.LastIndexByte(word, '-'); at > 0 && skillWords[word[at+1:]] != 0 {
		t.add(plainWord, word[:at])
		word = word[at+1:]
	}
	if number := skillWords[word]; number != 0 {
		t.tokens = append(t.tokens, token{text: word, kind: skillWord, isPlural: number == plural})
		return
	}
	t.add(plainWord, word)
}

// dense adds a run of characters of a script without spaces.
func (t *tokenizer) dense(run string) {
	for run != "" {
		first, length := len(run), 0
		for _, word := range denseSkillWords {
			if at := strings.Index(run, word); at >= 0 && at < first {
				first, length = at, len(word)
			}
		}
		if first > 0 {
			t.add(denseRun, run[:first])
		}
		if length > 0 {
			t.tokens = append(t.tokens, token{text: run[first : first+length], kind: skillWord})
		}
		run = run[first+length:]
	}
}

// isDenseRune reports whether a character belongs to a script that is written without spaces.
func isDenseRune(r rune) bool {
	return r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// runEnd returns the length of the characters at the beginning of text for which is holds.
func runEnd(text string, is func(rune) bool) int {
	if end := strings.IndexFunc(text, func(r rune) bool { return !is(r) }); end >= 0 {
		return end
	}
	return len(text)
}

// plainEnd returns the length of the word at the beginning of text. Marks such as "-" and "." are
// part of a word if a letter or digit follows.
func plainEnd(text string) int {
	isPart := func(r rune) bool {
		return !isDenseRune(r) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
	}
	end := runEnd(text, isPart)
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		more := runEnd(text[end+size:], isPart)
		if more == 0 || !strings.ContainsRune(".:-_/@#'’", r) {
			return end
		}
		end += size + more
	}
	return end
}
