package skilltext

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	// target matches the target of a Markdown link or image. The first group is a target
	// between "<" and ">", the second one without them.
	target = regexp.MustCompile(`\]\(\s*(?:<([^<>\n]+)>|([^()<>\s]+))[^()]*\)`)
	// bracketed matches a path between "<" and ">". People write paths with blanks so.
	bracketed = regexp.MustCompile(`<([^<>\s"'=@:]*/[^<>"'=@:\n]*\.[A-Za-z0-9]{1,8})>`)
	// definition matches the definition of a reference, as in "[ref]: docs/a.md".
	definition = regexp.MustCompile(`^ {0,3}\[[^\[\]]+\]:\s*(?:<([^<>\n]+)>|(\S+))`)
	// word matches a possible path in code: a word that has a "." with an extension.
	word = regexp.MustCompile("[^\\s`'\"()<>\\[\\]{}|;,=:]+\\.[A-Za-z0-9]{1,8}")
	code = regexp.MustCompile("`([^`\n]+)`")
)

// Links returns the relative paths in a Markdown text: in links, in definitions of references,
// between "<" and ">", in inline code and in code blocks. The paths are cleaned, in order of
// appearance and without duplicates. Percent encoding of links is decoded. Links leaves out URLs,
// absolute paths, paths that leave the folder and hidden files. It does not check whether a file
// exists.
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
				add(cutQuery(w))
			}
			continue
		}
		for _, link := range lineLinks(line) {
			add(link)
		}
	}
	return found
}

// lineLinks returns the links and the words in inline code of a line of prose, in their order.
func lineLinks(line string) []string {
	type hit struct {
		at   int
		text string
	}
	var hits []hit
	for _, links := range []*regexp.Regexp{target, bracketed, definition} {
		for _, m := range links.FindAllStringSubmatchIndex(line, -1) {
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 {
					hits = append(hits, hit{m[g], decodeLink(line[m[g]:m[g+1]])})
				}
			}
		}
	}
	for _, m := range code.FindAllStringSubmatchIndex(line, -1) {
		for _, w := range word.FindAllString(line[m[2]:m[3]], -1) {
			hits = append(hits, hit{m[2], cutQuery(w)})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return a.at - b.at })
	texts := make([]string, len(hits))
	for i, h := range hits {
		texts[i] = h.text
	}
	return texts
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

// cutQuery returns a target without its query and its fragment.
func cutQuery(target string) string {
	if end := strings.IndexAny(target, "#?"); end >= 0 {
		return target[:end]
	}
	return target
}

// decodeLink returns the path of a link. It decodes percent encoding if that is valid.
func decodeLink(target string) string {
	target = cutQuery(target)
	if plain, err := url.PathUnescape(target); err == nil {
		return plain
	}
	return target
}

// relative cleans a path, and reports whether it names a file below the folder.
func relative(raw string) (string, bool) {
	if raw == "" || len(raw) > maxLink || strings.Contains(raw, "://") || strings.HasPrefix(raw, "/") || strings.ContainsAny(raw, "\\:\x00") {
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
