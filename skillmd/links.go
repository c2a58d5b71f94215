package skillmd

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxLinks bounds the paths that are found in one text.
const maxLinks = 500

var (
	// target is that of a Markdown link or image.
	target = regexp.MustCompile(`\]\(\s*<?([^()<>\s]+)>?[^()]*\)`)
	// word is what may be a path in code: it has a "." with an extension.
	word = regexp.MustCompile("[^\\s`'\"()<>\\[\\]{}|;,=:]+\\.[A-Za-z0-9]{1,8}")
	code = regexp.MustCompile("`([^`\n]+)`")
)

// Links returns the relative paths that a Markdown text names in links, in inline code and
// in code blocks, in the order in which they appear and each once, cleaned. Left out are
// URLs, absolute paths, paths that leave the folder, and hidden files. Whether a file is
// there is not known.
func Links(text string) []string {
	var found []string
	add := func(raw string) {
		if p, ok := relative(raw); ok && !slices.Contains(found, p) && len(found) < maxLinks {
			found = append(found, p)
		}
	}
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if mark := codeFence(trimmed); mark != "" && (fence == "" || strings.HasPrefix(mark, fence) && mark == trimmed) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" {
			for _, w := range word.FindAllString(line, -1) {
				add(w)
			}
			continue
		}
		type hit struct {
			at   int
			text string
		}
		var hits []hit
		for _, m := range target.FindAllStringSubmatchIndex(line, -1) {
			hits = append(hits, hit{m[2], line[m[2]:m[3]]})
		}
		for _, m := range code.FindAllStringSubmatchIndex(line, -1) {
			for _, w := range word.FindAllString(line[m[2]:m[3]], -1) {
				hits = append(hits, hit{m[2], w})
			}
		}
		slices.SortStableFunc(hits, func(a, b hit) int { return a.at - b.at })
		for _, h := range hits {
			add(h.text)
		}
	}
	return found
}

// codeFence returns the run of marks that opens or closes a code block.
func codeFence(line string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// relative cleans a path, and reports whether it names a file below the folder.
func relative(raw string) (string, bool) {
	raw, _, _ = strings.Cut(raw, "#")
	raw, _, _ = strings.Cut(raw, "?")
	if raw == "" || len(raw) > 1024 || strings.Contains(raw, "://") || strings.HasPrefix(raw, "/") || strings.ContainsAny(raw, "\\:\x00") {
		return "", false
	}
	p := path.Clean(raw)
	if p == "." || p == ".." || strings.HasPrefix(p, "../") {
		return "", false
	}
	for part := range strings.SplitSeq(p, "/") {
		if strings.HasPrefix(part, ".") {
			return "", false
		}
	}
	return p, true
}
