package archive

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Errors of archives.
var (
	// ErrRefused reports that the archive holds something that no archive of skills may hold.
	ErrRefused = errors.New("archive refused")
	// errPin reports that the archive is not the one that was pinned.
	errPin = errors.New("archive is not the pinned one")
	// ErrURL reports that the archive may not be fetched from there.
	ErrURL = errors.New("address not allowed")
)

// Limits bound an archive. Zero values mean the defaults.
type Limits struct {
	MaxDownload int64 // bytes of the archive; 64 MiB
	MaxUnpacked int64 // bytes of all files; 256 MiB
	MaxFile     int64 // bytes of one file; 64 MiB
	MaxFiles    int   // entries, and files with their folders; 10,000
	MaxRatio    int64 // unpacked to packed, with the headers of a tar; 100, beyond the first 64 KiB
}

// Options say how an archive is fetched and unpacked.
type Options struct {
	Limits
	// SHA256 pins the archive: in hexadecimal, "" for none.
	SHA256 string
	// Client fetches instead of one that refuses loopback, private and link-local
	// addresses as it dials them. The rules about addresses and redirects hold for
	// it too, but not those about what it dials.
	Client *http.Client
	// Timeout bounds the whole download; 60 s.
	Timeout time.Duration
	// Allow permits an address although it is http: or file:, or leads to a loopback,
	// private or link-local host. Nil permits none.
	Allow func(*url.URL) bool
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
