package places

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/archive"
)

// AddressKind says what is at an address.
type AddressKind uint8

// The kinds.
const (
	IndexAddress      AddressKind = iota // a host with a well-known index of skills
	ArchiveAddress                       // an archive or a SKILL.md
	RepositoryAddress                    // a git repository at a commit or a tag
)

// Address is the address of skills on another machine.
type Address struct {
	Kind AddressKind
	// URL is the address itself, without what stands behind "#" and the reference of a
	// repository.
	URL string
	// SHA256 pins an archive, in hexadecimal, "" for none.
	SHA256 string
	// Ref is the commit or the tag of a repository, and Path a folder in it, "" for all. A
	// repository of this machine (git+file:) has neither.
	Ref, Path string
}

// archiveEndings end the names of archives.
var archiveEndings = []string{".zip", ".tar", ".tgz", ".tar.gz"}

// isArchiveName reports whether a file of this name is an archive or a SKILL.md.
func isArchiveName(name string) bool {
	name = strings.ToLower(path.Base(name))
	return name == "skill.md" || slices.ContainsFunc(archiveEndings, func(end string) bool { return strings.HasSuffix(name, end) })
}

// IsAddress reports whether a place of skills is an address and no path.
func IsAddress(place string) bool { return strings.Contains(place, "://") }

// ParseAddress says what a text with "://" means by its form. Other forms are usage errors that
// name the three that exist.
func ParseAddress(text string) (Address, error) {
	bad := func(format string, args ...any) (Address, error) {
		return Address{}, cli.Usage(fmt.Errorf(format, args...))
	}
	u, err := url.Parse(text)
	if err != nil {
		return bad("%.200q is no address", archive.Shown(text))
	}
	shown := archive.Shown(text)
	if u.User != nil {
		return bad("%s: an address with user info is refused", shown)
	}
	fragment, hasFragment := u.Fragment, strings.Contains(text, "#")
	u.Fragment, u.RawFragment = "", ""
	last := u.EscapedPath()[strings.LastIndexByte(u.EscapedPath(), '/')+1:]
	switch {
	case strings.HasPrefix(u.Scheme, "git+"):
		return Address{Kind: RepositoryAddress, URL: text}, nil
	case (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && !hasFragment:
		return Address{Kind: IndexAddress, URL: u.String()}, nil
	case isArchiveName(u.Path):
		a := Address{Kind: ArchiveAddress, URL: u.String()}
		if hasFragment {
			sum, isPin := strings.CutPrefix(fragment, "sha256=")
			if raw, err := hex.DecodeString(sum); !isPin || err != nil || len(raw) != 32 {
				return bad("%s: behind # there may only be sha256= and the 64 hex digits of the archive", shown)
			}
			a.SHA256 = strings.ToLower(sum)
		}
		return a, nil
	case strings.LastIndexByte(last, '@') > 0 && u.RawQuery == "":
		return repositoryAddress(u, last, fragment, shown)
	}
	return bad("%s is none of the three forms: a host with an index of skills (https://example.com), an archive or a SKILL.md "+
		"(https://example.com/skills.zip, .tar, .tar.gz, .tgz), or a git repository at a commit or a tag (https://example.com/repo@v1.0#folder)", shown)
}

// repositoryAddress parses the address of a repository. last is the last element of its path, with
// the reference.
func repositoryAddress(u *url.URL, last, folder, shown string) (Address, error) {
	at := strings.LastIndexByte(last, '@')
	ref, err := url.PathUnescape(last[at+1:])
	if err != nil || !isRef(ref) {
		return Address{}, cli.Usage(fmt.Errorf("%s: behind @ there must be a commit or a tag", shown))
	}
	if folder != "" && (path.Clean(folder) != folder || path.IsAbs(folder) || folder == ".." || strings.HasPrefix(folder, "../") || strings.ContainsAny(folder, "\\\x00\n\r") || len(folder) > maxRepositoryPath) {
		return Address{}, cli.Usage(fmt.Errorf("%s: behind # there must be a folder of the repository", shown))
	}
	if folder == "." {
		folder = ""
	}
	whole := u.EscapedPath()
	repository := *u
	repository.RawPath = whole[:len(whole)-len(last)+at]
	if repository.Path, err = url.PathUnescape(repository.RawPath); err != nil {
		return Address{}, cli.Usage(fmt.Errorf("%s is no address", shown))
	}
	return Address{Kind: RepositoryAddress, URL: repository.String(), Ref: ref, Path: folder}, nil
}

// isRef reports whether a text may be a commit or the name of a tag, by the rules of git
// check-ref-format.
func isRef(ref string) bool {
	if ref == "" || len(ref) > maxRef || strings.HasPrefix(ref, "-") || strings.HasPrefix(ref, "/") || strings.HasSuffix(ref, "/") ||
		strings.HasSuffix(ref, ".") || ref == "@" || strings.ContainsAny(ref, " ~^:?*[\\") || strings.Contains(ref, "..") ||
		strings.Contains(ref, "@{") || strings.Contains(ref, "//") || strings.ContainsFunc(ref, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '\uFFFD' }) {
		return false
	}
	for part := range strings.SplitSeq(ref, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// IsCommit reports whether a reference is the full name of a commit.
func IsCommit(ref string) bool {
	raw, err := hex.DecodeString(ref)
	return err == nil && (len(raw) == 20 || len(raw) == 32) && strings.ToLower(ref) == ref
}
