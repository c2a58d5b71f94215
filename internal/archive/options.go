package archive

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Errors of archives.
var (
	// ErrRefused reports an archive with an entry or a size that is not allowed.
	ErrRefused = errors.New("archive refused")
	// ErrPin reports an archive whose digest is not the pinned one.
	ErrPin = errors.New("archive is not the pinned one")
	// ErrURL reports an address from which the host does not allow to fetch.
	ErrURL = errors.New("address not allowed")
)

// Limits bound an archive. Zero values mean the defaults.
type Limits struct {
	MaxDownload int64 // bytes of the archive; 64 MiB
	MaxUnpacked int64 // bytes of all files; 256 MiB
	MaxFile     int64 // bytes of one file; 64 MiB
	MaxFiles    int   // entries, and files with their folders; 10,000
	MaxRatio    int64 // unpacked to packed bytes, with the headers of a tar; 100; the first 64 KiB are free
}

// Options say how an archive is fetched and unpacked.
type Options struct {
	Limits
	// SHA256 pins the archive: in hexadecimal, "" for none.
	SHA256 string
	// Client replaces the default client, which refuses to dial loopback, private and
	// link-local addresses, and uses the proxy of the environment; see [Proxy]. The rules for URLs and redirects apply to Client too. It dials any
	// address.
	Client *http.Client
	// SameOrigin refuses redirects to another origin.
	SameOrigin bool
	// Timeout bounds the whole download; 60 s.
	Timeout time.Duration
	// Allow reports whether a URL is allowed that is http: or file:, or that leads to a
	// loopback, private or link-local host. Nil allows none.
	Allow func(*url.URL) bool

	// document makes the cache keep the bytes as they are, in a file documentFile. They must be
	// JSON, so that no archive is taken for a document.
	document bool
}

// kind returns what errors call the download.
func (o *Options) kind() string {
	if o.document {
		return "document"
	}
	return "archive"
}

// Shown returns an address as an error may show it: without user info and without the values of its query,
// which may be keys.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		scheme, _, _ := strings.Cut(address, ":")
		return scheme + ":…"
	}
	return shown(u)
}

func shown(u *url.URL) string {
	clone := *u
	if clone.User != nil {
		clone.User = url.User(hidden)
	}
	if clone.RawQuery != "" {
		clone.RawQuery = hidden
	}
	return clone.String()
}

// hidden stands for the parts of an address that an error does not show.
const hidden = "xxxxx"

// Origin returns the scheme, host and port of an address.
func Origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

func (l Limits) orDefaults() Limits {
	for _, d := range []struct {
		value *int64
		def   int64
	}{{&l.MaxDownload, maxDownload}, {&l.MaxUnpacked, maxUnpacked}, {&l.MaxFile, maxFile}, {&l.MaxRatio, maxRatio}} {
		if *d.value <= 0 {
			*d.value = d.def
		}
	}
	if l.MaxFiles <= 0 {
		l.MaxFiles = maxFiles
	}
	return l
}

func refused(entry, format string, args ...any) error {
	return fmt.Errorf("%w: entry %.200q: %s", ErrRefused, entry, fmt.Sprintf(format, args...))
}
