package skillset

import (
	"cmp"
	"strings"

	"golang.org/x/mod/semver"
)

// isVersion reports whether a text is a semantic version without a "v", of at most maxID bytes
// and with all three numbers.
func isVersion(s string) bool {
	v := "v" + s
	return len(s) <= maxID && semver.IsValid(v) && semver.Canonical(v)+semver.Build(v) == v
}

// preRelease returns the part of a version after "-", with it, and "" for a release.
func preRelease(version string) string { return semver.Prerelease("v" + version) }

// compareVersions orders versions by precedence, lowest first; where that is equal, by the
// text.
func compareVersions(a, b string) int {
	return cmp.Or(semver.Compare("v"+a, "v"+b), strings.Compare(a, b))
}
