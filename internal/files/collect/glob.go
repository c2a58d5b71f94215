package collect

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/braces"
	"github.com/satchel-go/satchel/outputs"
)

// ErrPattern reports a glob that [Spec] does not accept.
var ErrPattern = errors.New("invalid output pattern")

// parseGlob cleans a glob as described at [Spec] and returns its patterns.
func parseGlob(glob string) ([]pattern, error) {
	cleaned, err := cleanText(glob)
	var alternatives []pattern
	if err == nil {
		alternatives, err = compile(cleaned)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %.120q: %w", ErrPattern, glob, err)
	}
	return alternatives, nil
}

// cleanText cleans a glob. It returns a clean glob unchanged.
func cleanText(glob string) (string, error) {
	if err := checkText(glob); err != nil {
		return "", err
	}
	cleaned, err := cutVariable(dropEmpty(glob))
	if err != nil {
		return "", err
	}
	if cleaned == "inputs" || strings.HasPrefix(cleaned, "inputs/") {
		cleaned = "work/" + cleaned
	}
	return cleaned, checkText(cleaned)
}

// dropEmpty removes empty segments and ".". Unlike path.Clean it does not resolve "..", so that
// compile can refuse it.
func dropEmpty(glob string) string {
	var kept []string
	for segment := range strings.SplitSeq(glob, "/") {
		if segment != "" && segment != "." {
			kept = append(kept, segment)
		}
	}
	if len(kept) == 0 {
		return "."
	}
	return strings.Join(kept, "/")
}

func checkText(glob string) error {
	switch {
	case glob == "":
		return errors.New("it is empty")
	case len(glob) > maxGlob:
		return fmt.Errorf("%d bytes, at most %d are allowed", len(glob), maxGlob)
	case !utf8.ValidString(glob):
		return errors.New("not valid UTF-8")
	case strings.ContainsFunc(glob, unicode.IsControl):
		return errors.New("it has control characters")
	case glob[0] == '/':
		return errors.New("it is absolute; give a path in the workspace, such as out/*.txt")
	}
	return nil
}

// variables are the directories with which a pattern may start.
const variables = "$WORKSPACE_DIR, $OUTPUT_DIR, $WORK_DIR, $SKILLS_DIR, $RUN_DIR"

var directories = map[string]string{
	"WORKSPACE_DIR": ".", "OUTPUT_DIR": "out", "WORK_DIR": "work", "SKILLS_DIR": "skills", "RUN_DIR": "runs",
}

// cutVariable replaces a variable at the start of a pattern.
func cutVariable(glob string) (string, error) {
	rest, ok := strings.CutPrefix(glob, "$")
	if !ok {
		return glob, nil
	}
	first, below, deeper := strings.Cut(rest, "/")
	name := first
	if strings.HasPrefix(first, "{") && strings.HasSuffix(first, "}") {
		name = first[1 : len(first)-1]
	}
	dir, known := directories[name]
	if !known {
		return "", unknownVariable("$" + first)
	}
	if !deeper {
		return dir, nil
	}
	if dir == "." {
		return below, nil
	}
	return dir + "/" + below, nil
}

func unknownVariable(name string) error {
	return fmt.Errorf(`unknown variable %.40q: a pattern may start with %s; write \$ for a plain $`, name, variables)
}

// expand returns the patterns without braces for a pattern with braces, in order.
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

// Within returns the spec with every value lowered to the limits, and a sentence for each
// lowered value.
func (s Spec) Within(l outputs.Limits) (Spec, []string) {
	var lowered []string
	files := int64(s.MaxFiles)
	for _, f := range []struct {
		key            string
		asked          *int64
		most, standard int64
	}{
		{"max_files", &files, int64(l.MaxFiles), DefaultMaxFiles},
		{"max_file_bytes", &s.MaxFileBytes, l.MaxFileBytes, DefaultMaxFileBytes},
		{"max_total_bytes", &s.MaxTotalBytes, l.MaxTotalBytes, DefaultMaxTotalBytes},
	} {
		most := f.most
		if most <= 0 {
			most = f.standard
		}
		if *f.asked > most {
			lowered = append(lowered, fmt.Sprintf("%s: %d is more than this host allows; it is %d", f.key, *f.asked, most))
		}
		if *f.asked <= 0 || *f.asked > most {
			*f.asked = min(most, max(f.standard, *f.asked))
		}
	}
	s.MaxFiles = int(files)
	return s, lowered
}
