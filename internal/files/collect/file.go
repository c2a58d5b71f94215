package collect

import (
	"cmp"
	"strings"
)

// MaxPrimary is the greatest size of a primary output: 32 KiB.
const MaxPrimary = 32 << 10

// File is one collected file.
type File struct {
	// Name is a slash path in the workspace, such as out/report.txt: one line
	// of valid UTF-8.
	Name string
	// MIME is the type that [MIME] gives, without parameters.
	MIME string
	// Size is the size on disk in bytes.
	Size int64
	// Text says that the file is text, judged by what was read of it: all of it
	// up to [MaxPrimary] or what was inlined, otherwise the first 3 KiB.
	Text bool
	// Blank says that a file of at most [MaxPrimary] contains only white space.
	Blank bool
	// Content is the text if Inlined: valid UTF-8 without NUL; only the beginning
	// of the file if Truncated.
	Content string
	// Inlined says that Content was requested and is present. It is never set for
	// a binary file.
	Inlined bool
	// Truncated says that a limit kept some or all of the requested text out of
	// Content.
	Truncated bool
}

// Ref returns the stable reference of the file, workspace://out/report.txt.
func (f File) Ref() string { return "workspace://" + f.Name }

// Primary returns the file that a model most likely wants to see. It is one of the text files
// that are not blank and have at most [MaxPrimary] bytes. Plain text and Markdown come before
// other text, data and code, and images such as SVG last; then the first by name wins. Their
// contents need not be inlined.
func Primary(files []File) (File, bool) {
	var best File
	found := false
	for _, f := range files {
		if f.Text && !f.Blank && f.Size <= MaxPrimary && (!found || cmp.Or(cmp.Compare(f.rank(), best.rank()), cmp.Compare(f.Name, best.Name)) < 0) {
			best, found = f, true
		}
	}
	return best, found
}

// rank orders kinds of text by how likely they are to be read.
func (f File) rank() int {
	switch {
	case f.MIME == "text/plain" || f.MIME == "text/markdown":
		return 0
	case strings.HasPrefix(f.MIME, "image/"):
		return 2
	}
	return 1
}
