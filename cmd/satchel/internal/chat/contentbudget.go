package chat

import (
	"fmt"
	"strconv"
	"strings"
)

// contentBudget limits the text of skills in the prompt, in tokens.
type contentBudget struct{ warn, max int }

// UnmarshalText reads WARN,MAX, or MAX alone.
func (b *contentBudget) UnmarshalText(text []byte) error {
	warn, most, both := strings.Cut(string(text), ",")
	if !both {
		most = warn
	}
	w, errWarn := strconv.ParseUint(strings.TrimSpace(warn), 10, 31)
	m, errMax := strconv.ParseUint(strings.TrimSpace(most), 10, 31)
	if errWarn != nil || errMax != nil {
		return fmt.Errorf("%q is no content budget: use WARN,MAX in tokens, such as 10000,64000, or 0 for none", text)
	}
	if !both {
		w = min(m, warnTokens)
	}
	b.warn, b.max = int(w), int(m)
	return nil
}
