package shelf

import (
	"cmp"
	"regexp"
	"strings"
)

// semver is a version of semver.org, without a "v".
var semver = regexp.MustCompile(`^(0|[1-9]\d{0,17})\.(0|[1-9]\d{0,17})\.(0|[1-9]\d{0,17})` +
	`(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?` +
	`(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$`)

// isVersion reports whether a text is a version, of at most 128 bytes.
func isVersion(s string) bool { return len(s) <= 128 && semver.MatchString(s) }

// preRelease returns what follows the "-", "" for a release.
func preRelease(version string) string {
	if m := semver.FindStringSubmatch(version); m != nil {
		return m[4]
	}
	return ""
}

// compareVersions orders by precedence, lowest first; where that is equal, by the
// text.
func compareVersions(a, b string) int {
	x, y := semver.FindStringSubmatch(a), semver.FindStringSubmatch(b)
	if x == nil || y == nil {
		return strings.Compare(a, b)
	}
	for i := 1; i <= 3; i++ {
		if c := compareNumbers(x[i], y[i]); c != 0 {
			return c
		}
	}
	if c := comparePre(x[4], y[4]); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func compareNumbers(a, b string) int { // without leading zeros
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

func comparePre(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	}
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		left, right := isNumber(x[i]), isNumber(y[i])
		c := strings.Compare(x[i], y[i])
		switch {
		case left && right:
			c = compareNumbers(x[i], y[i])
		case left:
			c = -1
		case right:
			c = 1
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }
