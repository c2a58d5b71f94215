package skillset

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// semver is a version of semver.org, without a "v".
var semver = regexp.MustCompile(`^(0|[1-9]\d{0,17})\.(0|[1-9]\d{0,17})\.(0|[1-9]\d{0,17})` +
	`(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?` +
	`(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$`)

// isVersion reports whether a text is a version, of at most 128 bytes.
func isVersion(s string) bool { return len(s) <= maxID && semver.MatchString(s) }

// preRelease returns what follows the "-" of a version, "" for a release.
func preRelease(version string) string { return semver.FindStringSubmatch(version)[4] }

// compareVersions orders versions by precedence, lowest first; where that is equal, by the
// text.
func compareVersions(a, b string) int {
	x, y := semver.FindStringSubmatch(a), semver.FindStringSubmatch(b)
	return cmp.Or(slices.CompareFunc(x[1:4], y[1:4], compareNumbers), comparePre(x[4], y[4]), strings.Compare(a, b))
}

func compareNumbers(a, b string) int { // without leading zeros
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

func comparePre(a, b string) int {
	if a == "" || b == "" { // a release comes after its pre-releases
		return cmp.Compare(len(b), len(a))
	}
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		switch left, right := isNumber(a), isNumber(b); {
		case left && right:
			return compareNumbers(a, b)
		case left:
			return -1
		case right:
			return 1
		}
		return strings.Compare(a, b)
	})
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }
