package permission

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// covers reports whether an entry is for an item of a call of its tool, and
// whether by its pattern.
func (r *Rule) covers(it *item, owner, home string) (ok, byPattern bool) {
	u := it.of
	switch {
	case r.Any && r.names(it.by):
		return true, false
	case !r.names(&u.Tool):
		return false, false
	case r.Any:
		return true, false
	case r.Pattern == "" || it.plain != "" && it.env == nil:
		return false, false
	}
	switch u.Takes {
	case Command:
		return r.coversCommand(it, owner), true
	case Path:
		return matchPath(r.Pattern, u.Text, home), true
	case Text:
		return matchText(r.Pattern, u.Text), true
	case Inert:
		return true, true
	}
	return false, false
}

// matchPath compares a path with a pattern in which "*" stands for one element,
// or a part of it, and "**" for any number of them. Neither follows links. "~/"
// is home in both, if that is known.
func matchPath(pattern, file, home string) bool {
	pattern, file = fromHome(pattern, home), fromHome(filepath.ToSlash(file), home)
	if file == "" || strings.ContainsAny(file, "\\\x00") {
		return false
	}
	if strings.HasPrefix(pattern, "//") {
		pattern = pattern[1:]
	}
	pattern, file = strings.TrimPrefix(pattern, "./"), path.Clean(file)
	if isAbs(pattern) != isAbs(file) || strings.HasPrefix(file, "../") != strings.HasPrefix(pattern, "../") || file == ".." {
		return false
	}
	ok, err := doublestar.Match(pattern, file)
	return ok && err == nil
}

func fromHome(p, home string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok && home != "" && !strings.ContainsAny(home, `*?[{\`) {
		return strings.TrimSuffix(filepath.ToSlash(home), "/") + "/" + rest
	}
	return p
}

func isAbs(p string) bool { return path.IsAbs(p) || filepath.VolumeName(filepath.FromSlash(p)) != "" }

// matchText compares a word with the alternatives of a pattern.
func matchText(pattern, text string) bool {
	for alternative := range strings.SplitSeq(pattern, ",") {
		alternative = strings.TrimSpace(alternative)
		if domain, ok := strings.CutPrefix(alternative, "domain:"); ok {
			if isOf(text, domain) {
				return true
			}
		} else if alternative != "" && glob(alternative, text) {
			return true
		}
	}
	return false
}

// isOf reports a URL of a host, or of one below it. URLs that clients read in
// different ways are of no host.
func isOf(address, domain string) bool {
	u, err := url.Parse(address)
	if err != nil || domain == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(address, "\\@ \t\r\n") {
		return false
	}
	host := strings.ToLower(u.Hostname())
	domain = strings.ToLower(domain)
	return host == domain || strings.HasSuffix(host, "."+domain)
}
