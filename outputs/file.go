package outputs

import "strings"

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
	// Text says that the file is text, as far as it was read: all of it up to
	// [MaxPrimary] or what was inlined, else the first 3 KiB.
	Text bool
	// Blank says that a file of at most [MaxPrimary] has nothing but white
	// space in it.
	Blank bool
	// Content is the text, when Inlined: valid UTF-8 without NUL, the beginning
	// of the file if Truncated.
	Content string
	// Inlined says that Content was asked for and is there. A binary file never
	// is.
	Inlined bool
	// Truncated says that a limit kept some of the text that was asked for out
	// of Content, or all of it.
	Truncated bool
}

// Ref returns the stable reference of the file, workspace://out/report.txt.
func (f File) Ref() string { return "workspace://" + f.Name }

// Primary returns the file that a model most likely wants to see: the first by
// name of the text files that are not blank and have at most [MaxPrimary] bytes.
// It does not need their contents to be inlined.
func Primary(files []File) (File, bool) {
	var best File
	found := false
	for _, f := range files {
		if f.Text && !f.Blank && f.Size <= MaxPrimary && (!found || strings.Compare(f.Name, best.Name) < 0) {
			best, found = f, true
		}
	}
	return best, found
}
