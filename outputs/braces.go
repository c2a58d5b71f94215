package outputs

import (
	"errors"
	"fmt"
	"strings"
)

// expand returns the patterns that a pattern with braces stands for, in order.
// Matching works on patterns without braces, because trying the alternatives
// while matching takes time that grows with the product of all of them.
func expand(glob string) ([]string, error) {
	if n := strings.Count(glob, "{"); n > maxBraces {
		return nil, fmt.Errorf("%d opening braces, at most %d are allowed", n, maxBraces)
	}
	var all []string
	todo := []string{glob}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		before, options, after, err := firstBraces(next)
		if err != nil {
			return nil, err
		}
		if options == nil {
			if all = append(all, next); len(all) > maxAlternatives {
				return nil, fmt.Errorf("its braces stand for more than %d patterns", maxAlternatives)
			}
			continue
		}
		if len(todo)+len(options) > maxGlob {
			return nil, fmt.Errorf("its braces stand for more than %d patterns", maxAlternatives)
		}
		for i := len(options) - 1; i >= 0; i-- {
			todo = append(todo, before+options[i]+after)
		}
	}
	return all, nil
}

// firstBraces splits a pattern at its first pair of braces. If there is none,
// options is nil.
func firstBraces(glob string) (before string, options []string, after string, err error) {
	depth, open, from := 0, 0, 0
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '[':
			end := classEnd(glob, i)
			if end < 0 {
				return "", nil, "", errors.New("a [ has no ]")
			}
			i = end
		case '{':
			if depth++; depth == 1 {
				open, from = i, i+1
			}
		case ',':
			if depth == 1 {
				options, from = append(options, glob[from:i]), i+1
			}
		case '}':
			if depth--; depth < 0 {
				return "", nil, "", errors.New("a } has no {")
			}
			if depth == 0 {
				return glob[:open], append(options, glob[from:i]), glob[i+1:], nil
			}
		}
	}
	if depth > 0 {
		return "", nil, "", errors.New("a { has no }")
	}
	return glob, nil, "", nil
}

// classEnd returns the index of the ] that ends the class at glob[start], or -1.
func classEnd(glob string, start int) int {
	for i := start + 1; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case ']':
			return i
		}
	}
	return -1
}
