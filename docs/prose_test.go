package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxWords is the most words of a sentence.
const maxWords = 25

// mostHard is how many sentences and phrases of the pages may be hard to read. It only goes down.
const mostHard = 0

var (
	// phrasesOfComments finds the phrases that scripts/words forbids in comments.
	phrasesOfComments = regexp.MustCompile("(?m)^var phrases = regexp.MustCompile\\(`(.*)`\\)$")

	notProse = regexp.MustCompile("(?ms)^```.*?^```$|<!--.*?-->|^\\|.*?$|^    .*?$|^#.*?$")
	inline   = regexp.MustCompile("`[^`]*`|!?\\[[^\\]]*\\]\\([^)]*\\)")
	itemMark = regexp.MustCompile(`(?m)^\s*(?:[-*>]|\d+\.) `)
	ended    = regexp.MustCompile(`[.!?:][)*"]*(?:\s|$)`)
)

// hardToRead returns the phrases of a page that have a plainer form, and its sentences of
// more than most words. Tables, code and headings do not count. A text in backquotes is one
// word, and so is a link.
func hardToRead(page string, phrases *regexp.Regexp, most int) (found []string) {
	prose := notProse.ReplaceAllString(page, "\n\n")
	prose = itemMark.ReplaceAllString(inline.ReplaceAllString(prose, "x"), "\n\n")
	for paragraph := range strings.SplitSeq(prose, "\n\n") {
		for _, sentence := range ended.Split(paragraph, -1) {
			words := strings.Fields(sentence)
			text := strings.Join(words, " ")
			if len(words) > most {
				found = append(found, fmt.Sprintf("%d words: %s", len(words), text))
			}
			if phrase := phrases.FindString(text); phrase != "" {
				found = append(found, fmt.Sprintf("%q has a plainer form: %s", phrase, text))
			}
		}
	}
	return found
}

// TestPagesAreEasyToRead reads the pages for users and CONTRIBUTING.md. It leaves out lists of
// what was done or decided, the figures of benchmark/, and docs/api.md, which lists names.
func TestPagesAreEasyToRead(t *testing.T) {
	source := phrasesOfComments.FindStringSubmatch(read(t, "scripts/words/main.go"))
	if source == nil {
		t.Fatal("scripts/words/main.go has no phrases")
	}
	phrases, own := regexp.MustCompile(source[1]), []string{"CHANGELOG.md", "docs/api.md", "docs/decisions.md", "docs/next.md"}
	var all []string
	for name, page := range pages(t) {
		if strings.HasPrefix(name, "benchmark/") || slices.Contains(own, name) {
			continue
		}
		for _, f := range hardToRead(page, phrases, maxWords) {
			all = append(all, name+": "+f)
		}
	}
	slices.Sort(all)
	if len(all) > mostHard {
		t.Errorf("%d sentences are hard to read, at most %d are accepted:\n%s", len(all), mostHard, strings.Join(all, "\n"))
	}
}

func TestHardToRead(t *testing.T) {
	phrases := regexp.MustCompile(`\b(anew)\b`)
	for name, tc := range map[string]struct {
		page string
		want int
	}{
		"short":           {"One two three.\nFour five six!", 0},
		"long":            {"One two three four.", 1},
		"over two lines":  {"One two\nthree four.", 1},
		"items":           {"- One two\n- three four\n1. five six", 0},
		"a long item":     {"- One two\n  three four", 1},
		"a colon":         {"One two: three four", 0},
		"a phrase":        {"Made anew.", 1},
		"code":            {"```sh\na b c d anew\n```\n\n    a b c d\n", 0},
		"inline":          {"The `a b c` [and d e](f.md) here`s`", 1},
		"a table":         {"| a b c d e |\n|---|\n| made anew |\n", 0},
		"heading, quoted": {"# One two three four\n\n<!-- from a b c d -->\n", 0},
		"a parenthesis":   {"(One two three.) Four", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if found := hardToRead(tc.page, phrases, 3); len(found) != tc.want {
				t.Errorf("found %q, want %d", found, tc.want)
			}
		})
	}
}
