package steps

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// Escaped returns text as one line without tags, for use between the tags that Satchel writes.
func Escaped(text string) string { return prompttext.Text(text) }

// Mention is a word of a message that may name a skill. Arguments are the rest of the line after a
// word with "/", without white space around it.
type Mention struct{ Word, Arguments string }

// Mentions returns at most limit words of a message that may name skills. If dollar is set, it
// returns words after a "$". If slash is set, it returns words after a "/" at the beginning of a
// line. It ignores code blocks and inline code.
//
// A word ends at white space, a bracket, a quotation mark, an apostrophe, or other punctuation
// that no name has. Trailing ".", ":", "-", "_" and "/" do not belong to it.
func Mentions(text string, dollar, slash bool, limit int) (words []Mention) {
	for _, line := range skilltext.Prose(text) {
		plain := strings.TrimLeft(line, "*_\"'“‘(（「")
		if rest, ok := strings.CutPrefix(plain, "/"); ok && slash {
			n := len(words)
			if words = appendWord(words, rest); len(words) > n {
				words[n].Arguments = argumentsAfter(rest, len(plain) < len(line))
			}
		}
		if dollar {
			for i := range dollars(line) {
				if words = appendWord(words, line[i+1:]); len(words) >= limit {
					break
				}
			}
		}
		if len(words) >= limit {
			return words[:limit]
		}
	}
	return words
}

// appendWord adds the word at the beginning of rest to words, unless it is empty, too long, or
// part of inline code.
func appendWord(words []Mention, rest string) []Mention {
	end := strings.IndexFunc(rest, endsMention)
	if end < 0 {
		end = len(rest)
	}
	if end < len(rest) && rest[end] == '`' {
		return words
	}
	if word := strings.TrimRight(rest[:end], ".:-_/"); word != "" && len(word) <= 4*maxMention {
		return append(words, Mention{Word: word})
	}
	return words
}

// argumentsAfter returns what follows the word at the beginning of rest, after white space. If
// isMarked is set, a mark such as a quotation mark stands before the word, and one at the end of the
// line is left out.
func argumentsAfter(rest string, isMarked bool) string {
	end := strings.IndexFunc(rest, endsMention)
	if end < 0 {
		return ""
	}
	if space, _ := utf8.DecodeRuneInString(rest[end:]); !unicode.IsSpace(space) {
		return ""
	}
	arguments := strings.TrimSpace(rest[end:])
	if isMarked {
		arguments = strings.TrimRight(arguments, "*_\"'”’)）」")
	}
	return arguments
}

// endsMention reports whether a rune cannot be part of a skill's name. Names may contain "." and
// ":", and "/" after the name of a folder.
func endsMention(r rune) bool {
	if strings.ContainsRune(".:-_/@#+", r) {
		return false
	}
	return unicode.IsSpace(r) || unicode.IsPunct(r) || strings.ContainsRune("`<>|=~^$", r)
}

// fenceMark returns the run of three or more "`" or "~" at the beginning of line that opens or
// closes a code fence, or "".
func fenceMark(line string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 && !(mark == "`" && strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

// dollars yields the indexes of the "$" of a line that are outside inline code.
func dollars(line string) iter.Seq[int] {
	return func(yield func(int) bool) {
		var inline skilltext.InlineCode
		for i := 0; i < len(line); {
			_, size, _ := inline.At(line[i:])
			if line[i] == '$' && !yield(i) {
				return
			}
			i += max(size, 1)
		}
	}
}
