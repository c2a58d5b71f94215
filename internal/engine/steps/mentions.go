package steps

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// Escaped is text as it may stand between tags that Satchel writes: on one line, and
// without tags of its own.
func Escaped(text string) string { return prompttext.Text(text) }

// Mentions returns the words of a message that may name skills, at most so many. With
// dollar they are those behind a "$", with slash those behind a "/" at the beginning of a
// line. Fenced code blocks and inline code are left out. A word ends at white space, at a
// bracket, a quotation mark, an apostrophe or other punctuation that no name has. It also
// ends at a run of ".", ":", "-", "_" or "/" that nothing follows.
func Mentions(text string, dollar, slash bool, most int) (words []string) {
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimLeft(line, " ")
		if mark := fenceMark(trimmed); mark != "" && len(line)-len(trimmed) < 4 {
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(mark, fence) && strings.Trim(trimmed, mark[:1]+" \t") == "":
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		if rest, ok := strings.CutPrefix(strings.TrimLeft(line, "*_\"'“‘(（「"), "/"); ok && slash {
			words = appendWord(words, rest)
		}
		if dollar {
			for i := nextDollar(line, 0); i >= 0 && len(words) < most; i = nextDollar(line, i+1) {
				words = appendWord(words, line[i+1:])
			}
		}
		if len(words) >= most {
			return words[:most]
		}
	}
	return words
}

func appendWord(words []string, rest string) []string {
	end := strings.IndexFunc(rest, endsMention)
	if end < 0 {
		end = len(rest)
	}
	if end < len(rest) && rest[end] == '`' {
		return words
	}
	if word := strings.TrimRight(rest[:end], ".:-_/"); word != "" && len(word) <= 4*maxMention {
		return append(words, word)
	}
	return words
}

// endsMention reports a rune that no name of a skill has. Names may hold "." and ":", and
// "/" where they begin with a folder.
func endsMention(r rune) bool {
	if strings.ContainsRune(".:-_/@#+", r) {
		return false
	}
	return unicode.IsSpace(r) || unicode.IsPunct(r) || strings.ContainsRune("`<>|=~^$", r)
}

// fenceMark returns the run of three or more marks that begins a line of a code fence.
func fenceMark(line string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 && !(mark == "`" && strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

// nextDollar returns the place of the next "$" at or after from that is outside inline
// code, or -1.
func nextDollar(line string, from int) int {
	for i := 0; i < len(line); {
		switch {
		case line[i] == '`':
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			i += n
			if closed := closing(line[i:], n); closed >= 0 {
				i += closed + n
			}
		case line[i] == '$' && i >= from:
			return i
		default:
			_, size := utf8.DecodeRuneInString(line[i:])
			i += size
		}
	}
	return -1
}

// closing returns where a run of exactly n backticks begins, or -1.
func closing(text string, n int) int {
	for i := 0; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		if run == n {
			return i
		}
		i += run
	}
	return -1
}
