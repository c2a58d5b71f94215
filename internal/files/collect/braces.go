package collect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/internal/text/braces"
)

// expand returns the patterns that a pattern with braces stands for, in order.
func expand(glob string) ([]string, error) {
	if n := strings.Count(glob, "{"); n > maxBraces {
		return nil, fmt.Errorf("%d opening braces, at most %d are allowed", n, maxBraces)
	}
	all, err := braces.Expand(glob, maxAlternatives, func(text string) (int, error) {
		if end := classEnd(text, 0); end > 0 {
			return end, nil
		}
		return 0, errors.New("a [ has no ]")
	})
	if errors.Is(err, braces.ErrMany) {
		err = fmt.Errorf("its braces stand for more than %d patterns", maxAlternatives)
	}
	return all, err
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
