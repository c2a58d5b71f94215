// Package skillargs puts the arguments of a load into the text of a skill, in place of
// placeholders such as "$ARGUMENTS" and "$0". It is pure, and nothing in a text is ever run.
package skillargs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// whole is the placeholder for the arguments as they were given.
const whole = "ARGUMENTS"

// Declared is what the front matter of a skill says about arguments.
type Declared struct {
	// Names are the names of the words, in their order.
	Names []string
	// Takes reports that the skill declares arguments or a hint for them.
	Takes bool
}

// IsName reports whether a name that a skill declares can be a placeholder.
func IsName(name string) bool {
	if name == "" || len(name) > MaxName || name == whole || !utf8.ValidString(name) {
		return false
	}
	for i, r := range name {
		if !unicode.IsLetter(r) && r != '_' && (i == 0 || r != '-' && !unicode.IsDigit(r)) {
			return false
		}
	}
	return true
}

// Render returns body with the arguments in place of its placeholders. It replaces "$ARGUMENTS",
// "$ARGUMENTS[n]", and "$name" and "${name}" of declared names. It replaces "$n" only if the skill
// declares arguments or a hint, or uses "$ARGUMENTS", and if no digit, dot or letter follows. A
// backslash, or two of them, before a placeholder keeps it, and is removed.
//
// Render never replaces anything in the arguments. If it replaces nothing, the arguments follow
// the body. Without arguments it removes the placeholders of declared names, and changes nothing
// else. The error wraps [ErrArguments]: the arguments are not allowed, or the text becomes too long.
func Render(body string, declared Declared, arguments string) (string, error) {
	if err := Check(arguments); err != nil {
		return "", err
	}
	if !strings.Contains(body, "$") && strings.TrimSpace(arguments) == "" {
		return body, nil
	}
	r := renderer{body: body, names: declared.Names, isGiven: strings.TrimSpace(arguments) != ""}
	if r.isGiven {
		r.arguments, r.words = arguments, Words(arguments)
		r.hasNumbers = declared.Takes || len(declared.Names) > 0 || Uses(body)
	}
	return r.render()
}

// Uses reports whether a text contains the placeholder "$ARGUMENTS", without a backslash before it.
func Uses(text string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], "$"+whole)
		if i < 0 {
			return false
		}
		at += i + len("$"+whole)
		if next, _ := utf8.DecodeRuneInString(text[at:]); !continuesName(next) && !strings.HasSuffix(text[:at-len("$"+whole)], `\`) {
			return true
		}
	}
}

// renderer renders one text.
type renderer struct {
	body      string
	names     []string
	arguments string
	words     []string
	// isGiven reports that there are arguments, and hasNumbers that "$n" is a placeholder.
	isGiven, hasNumbers bool

	out      strings.Builder
	replaced bool
}

func (r *renderer) render() (string, error) {
	done := 0
	for i := 0; i < len(r.body); i++ {
		if r.body[i] != '$' {
			continue
		}
		value, size := r.placeholder(r.body[i+1:])
		if size == 0 {
			continue
		}
		end := i + 1 + size
		if slashes := backslashes(r.body[done:i]); slashes > 0 {
			r.out.WriteString(r.body[done : i-slashes])
			r.out.WriteString(r.body[i:end])
		} else {
			r.out.WriteString(r.body[done:i])
			r.out.WriteString(value)
			r.replaced = true
		}
		done, i = end, end-1
		if r.out.Len() > len(r.body)+maxGrowth {
			return "", fmt.Errorf("%w: with them the text would be more than %d bytes longer than without", ErrArguments, maxGrowth)
		}
	}
	r.out.WriteString(r.body[done:])
	if r.isGiven && !r.replaced {
		if r.body != "" {
			r.out.WriteString("\n\n")
		}
		r.out.WriteString(whole + ": " + r.arguments)
	}
	return r.out.String(), nil
}

// placeholder returns the value of the placeholder that begins with "$" and goes on with rest, and
// the length of the part of it in rest. The length is 0 if there is none.
func (r *renderer) placeholder(rest string) (value string, size int) {
	if name, ok := strings.CutPrefix(rest, "{"); ok {
		if name, _, ok = strings.Cut(name[:min(len(name), MaxName+1)], "}"); ok {
			if n := slices.Index(r.names, name); n >= 0 && IsName(name) {
				return r.word(n), len(name) + 2
			}
		}
		return "", 0
	}
	if name, n := r.declaredName(rest); n >= 0 {
		return r.word(n), len(name)
	}
	if !r.isGiven {
		return "", 0
	}
	if after, ok := strings.CutPrefix(rest, whole); ok {
		if next, _ := utf8.DecodeRuneInString(after); continuesName(next) {
			return "", 0
		}
		if n, length := index(after); length > 0 {
			return r.word(n), len(whole) + length
		}
		return r.arguments, len(whole)
	}
	if r.hasNumbers && rest != "" && isDigit(rest[0]) {
		if next, _ := utf8.DecodeRuneInString(rest[1:]); next != '.' && !unicode.IsDigit(next) && !unicode.IsLetter(next) {
			return r.word(int(rest[0] - '0')), 1
		}
	}
	return "", 0
}

// declaredName returns the longest declared name at the beginning of rest, and the number of its
// word, -1 if there is none.
func (r *renderer) declaredName(rest string) (name string, n int) {
	n = -1
	for i, declared := range r.names {
		if len(declared) <= len(name) || !strings.HasPrefix(rest, declared) || !IsName(declared) {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(rest[len(declared):]); !continuesName(next) {
			name, n = declared, i
		}
	}
	return name, n
}

// word returns the word with a number, "" if it was not given.
func (r *renderer) word(n int) string {
	if n < len(r.words) {
		return r.words[n]
	}
	return ""
}

// index reads "[n]" at the beginning of rest. length is 0 if there is none. A number that is
// larger than any arguments have words is cut to one that they do not have either.
func index(rest string) (n, length int) {
	rest = rest[:min(len(rest), maxIndex)]
	digits, _, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]")
	if !ok || !strings.HasPrefix(rest, "[") || digits == "" || strings.ContainsFunc(digits, func(c rune) bool { return c < '0' || c > '9' }) {
		return 0, 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		n = Max
	}
	return min(n, Max), len(digits) + 2
}

// backslashes returns how many backslashes at the end of text belong to a placeholder after it: at
// most two.
func backslashes(text string) int {
	return min(2, len(text)-len(strings.TrimRight(text, `\`)))
}

// continuesName reports whether a name goes on with a character.
func continuesName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
