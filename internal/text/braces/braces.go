// Package braces writes out patterns with alternatives in braces, such as "a{b,c}". The
// time for matching the results one by one grows with their number. Matching the braces
// themselves takes the product of all alternatives.
package braces

import "errors"

// What is wrong with a pattern.
var (
	ErrUnopened = errors.New("a } has no {")
	ErrUnclosed = errors.New("a { has no }")
	ErrMany     = errors.New("more alternatives than allowed")
)

// Expand returns the texts that a pattern stands for, in order, at most so many. A
// backslash takes its meaning from the next character. class returns where the class of
// characters ends with which a text begins, at its "]"; 0 if it is none.
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

// first finds the first group and where its alternatives end: at its own commas and its
// closing brace. open is -1 without one.
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
