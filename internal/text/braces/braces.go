// Package braces expands patterns with alternatives in braces: "a{b,c}" becomes "ab" and "ac".
// Matching the expanded patterns one by one takes time in proportion to their number, which a
// caller can bound. Matching braces directly can take much longer.
package braces

import "errors"

// Errors of a pattern.
var (
	ErrUnopened = errors.New("a } has no {")
	ErrUnclosed = errors.New("a { has no }")
	ErrMany     = errors.New("more alternatives than allowed")
)

// Expand returns the texts to which a pattern expands, in order. More than most of them are
// ErrMany. A backslash escapes the next character. class gets the text from a "[" on; it returns
// the index of the "]" that ends the character class, or 0 if the text is no class.
func Expand(pattern string, most int, class func(text string) (end int, err error)) ([]string, error) {
	open, ends, err := first(pattern, class)
	if err != nil {
		return nil, err
	}
	if open < 0 {
		return []string{pattern}, nil
	}
	var all []string
	after := pattern[ends[len(ends)-1]+1:]
	from := open + 1
	for _, to := range ends {
		texts, err := Expand(pattern[:open]+pattern[from:to]+after, most, class)
		if err != nil {
			return nil, err
		}
		if all = append(all, texts...); len(all) > most {
			return nil, ErrMany
		}
		from = to + 1
	}
	return all, nil
}

// first returns the index of the first opening brace, -1 if there is none. ends are the indexes
// at which its alternatives end: its commas and its closing brace.
func first(pattern string, class func(string) (int, error)) (open int, ends []int, err error) {
	open, depth := -1, 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			end, err := class(pattern[i:])
			if err != nil {
				return 0, nil, err
			}
			i += end
		case '{':
			if depth++; depth == 1 {
				open = i
			}
		case ',':
			if depth == 1 {
				ends = append(ends, i)
			}
		case '}':
			if depth--; depth < 0 {
				return 0, nil, ErrUnopened
			}
			if depth == 0 {
				return open, append(ends, i), nil
			}
		}
	}
	if depth > 0 {
		return 0, nil, ErrUnclosed
	}
	return -1, nil, nil
}
