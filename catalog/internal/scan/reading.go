package scan

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/satchel-go/satchel/skillmd"
)

// Reading has the fields of source.Reading, which hosts fill in.
type Reading struct {
	Mode          skillmd.Mode
	MaxFileBytes  int64
	MaxReadBytes  int64
	MaxDepth      int
	MaxDirs       int
	Nested        bool
	DocExtensions []string
	ScanTimeout   time.Duration
}

// Config is a [Reading] with its defaults filled in.
type Config struct {
	Reading
	MaxInArchive int // skills
}

// NewConfig fills in the defaults of r and checks it. The error names the field that is wrong.
func NewConfig(r Reading) (Config, error) {
	for _, field := range []struct {
		name  string
		value int64
		least int64
	}{
		{"MaxFileBytes", r.MaxFileBytes, 0}, {"MaxReadBytes", r.MaxReadBytes, 0}, {"MaxDepth", int64(r.MaxDepth), -1},
		{"MaxDirs", int64(r.MaxDirs), 0}, {"ScanTimeout", int64(r.ScanTimeout), 0},
	} {
		if field.value < field.least {
			return Config{}, fmt.Errorf("Reading.%s is %d: want %d or more", field.name, field.value, field.least)
		}
	}
	r.MaxFileBytes = cmp.Or(r.MaxFileBytes, defaultFileBytes)
	r.MaxReadBytes = cmp.Or(r.MaxReadBytes, defaultReadBytes)
	r.MaxDirs = cmp.Or(r.MaxDirs, defaultDirs)
	r.MaxDepth = max(0, cmp.Or(r.MaxDepth, defaultDepth))
	r.ScanTimeout = cmp.Or(r.ScanTimeout, defaultTimeout)
	extensions := r.DocExtensions
	if extensions == nil {
		extensions = []string{".md", ".txt"}
	}
	r.DocExtensions = make([]string, len(extensions))
	for i, e := range extensions {
		e = "." + strings.ToLower(strings.TrimPrefix(e, "."))
		if e == "." || path.Ext(e) != e || strings.Contains(e, "/") {
			return Config{}, fmt.Errorf("Reading.DocExtensions: %q is not an extension", e)
		}
		r.DocExtensions[i] = e
	}
	return Config{Reading: r, MaxInArchive: defaultArchive}, nil
}
