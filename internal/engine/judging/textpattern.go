package judging

import (
	"net/url"
	"strings"
)

// textMatches compares text with the alternatives of a pattern, which commas separate.
func textMatches(pattern, text string, m *meter) bool {
	for alternative := range strings.SplitSeq(pattern, ",") {
		if !m.spend(1 + len(text)/8) {
			return false
		}
		alternative = strings.TrimSpace(alternative)
		if domain, ok := strings.CutPrefix(alternative, "domain:"); ok {
			if isInDomain(text, domain) {
				return true
			}
		} else if alternative != "" && starMatches(alternative, text) {
			return true
		}
	}
	return false
}

// isInDomain reports whether address is a URL of a host in domain. It returns false for URLs that
// clients interpret differently.
func isInDomain(address, domain string) bool {
	u, err := url.Parse(address)
	if err != nil || domain == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(address, "\\@ \t\r\n") {
		return false
	}
	host := strings.ToLower(u.Hostname())
	domain = strings.ToLower(domain)
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// starMatches compares text with a pattern in which "*" matches any text.
func starMatches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	rest, ok := strings.CutPrefix(text, parts[0])
	if last == 0 || !ok {
		return ok && rest == ""
	}
	for _, part := range parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}
