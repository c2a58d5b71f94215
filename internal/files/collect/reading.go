package collect

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// reading reads files one after the other within the limits.
type reading struct {
	tree   Tree
	notes  *notes
	inline bool
	each   int64 // the most to inline of one file
	left   int64 // the most to inline from now on
	short  bool  // left was too small for some file
}

// file reads as much of a file as is needed.
func (r *reading) file(name string) (File, bool) {
	f, info, err := openFile(r.tree, name)
	if err != nil {
		r.notes.add(name, "not collected: %v", plainfile.Cause(err))
		return File{}, false
	}
	defer f.Close()
	file := File{Name: name, Size: info.Size()}
	want := min(file.Size, headBytes)
	data, err := readUpTo(f, nil, want)
	if err == nil {
		file.MIME = MIME(name, data)
		if IsText(file.MIME, data) && int64(len(data)) == want {
			want = r.want(file.Size)
			data, err = readUpTo(f, data, want)
		}
	}
	if err != nil {
		r.notes.add(name, "not collected: %v", plainfile.Cause(err))
		return File{}, false
	}
	if int64(len(data)) < want { // the file became shorter meanwhile
		file.Size = int64(len(data))
	}
	judge(&file, data)
	if r.inline {
		r.fill(&file, data)
	}
	return file, true
}

// want returns how much to read of a text file of a given size.
func (r *reading) want(size int64) int64 {
	want := int64(headBytes)
	if size <= MaxPrimary {
		want = size
	}
	if r.inline {
		want = max(want, min(r.each, r.left))
	}
	return min(want, size)
}

// readUpTo appends to data what follows in f, up to size bytes in all.
func readUpTo(f io.Reader, data []byte, size int64) ([]byte, error) {
	have := len(data)
	if int64(have) >= size {
		return data, nil
	}
	whole := make([]byte, size)
	copy(whole, data)
	n, err := io.ReadFull(f, whole[have:])
	if err == io.EOF || err == io.ErrUnexpectedEOF { // the file became shorter meanwhile
		err = nil
	}
	return whole[:have+n], err
}

// judge sets what a file is, from what was read of it.
func judge(file *File, data []byte) {
	cut := int64(len(data)) < file.Size
	file.Text = isTextType(file.MIME) && validText(data, cut)
	file.Blank = file.Text && !cut && len(bytes.TrimSpace(data)) == 0
}

// fill inlines what was read of a file, within the limits.
func (r *reading) fill(file *File, data []byte) {
	if !file.Text {
		if isTextType(file.MIME) {
			r.notes.add(file.Name, "not inlined: it is not valid UTF-8 text")
		}
		return
	}
	r.short = r.short || r.left < min(r.each, file.Size)
	content := data[:min(int64(len(data)), r.each, r.left)]
	if int64(len(content)) < file.Size {
		content = content[:len(content)-halfRune(content)]
		file.Truncated = true
	}
	file.Inlined = len(content) > 0 || file.Size == 0
	file.Content = string(content)
	r.left -= int64(len(content))
}

// validText reports whether data is UTF-8 without NUL. Text that was cut may end
// with an incomplete rune.
func validText(data []byte, cut bool) bool {
	if cut {
		data = data[:len(data)-halfRune(data)]
	}
	return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// halfRune returns how many bytes at the end begin an incomplete rune.
func halfRune(data []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if c := data[len(data)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(data[len(data)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

var (
	// ErrName reports a name that no collected file can have.
	ErrName = plainfile.ErrName
	// ErrIrregular reports a file that must not be read. That is a directory, link, pipe,
	// socket or device, a file with a second hard link, or a file that was exchanged while it
	// was being opened.
	ErrIrregular = plainfile.ErrIrregular
)

// Tree is the part of a workspace that this package reads; every
// workspace.Workspace is one. Names are slash paths relative to the tree, and
// "." is the tree itself.
type Tree interface {
	// Lstat describes a file or directory. It does not follow a symbolic link.
	Lstat(name string) (fs.FileInfo, error)
	// Open opens a plain file, or a directory as an [fs.ReadDirFile]. It follows
	// no symbolic link and never waits for a writer. The open file stays in the
	// tree whatever is moved meanwhile. For everything else the error wraps
	// [ErrIrregular], and for a malformed name [ErrName].
	Open(name string) (fs.File, error)
}

// Dir returns the tree below root. On systems without unix file information it cannot recognise
// hard links.
func Dir(root *os.Root) Tree { return plainfile.Tree{Root: root} }

// Open opens a plain file of a tree to be read from beginning to end. The name is
// a slash path as in [File]; a bad one is [ErrName]. A directory, and anything
// else that is not a plain file, is [ErrIrregular].
func Open(tree Tree, name string) (io.ReadCloser, error) {
	f, _, err := openFile(tree, name)
	if err != nil {
		return nil, fmt.Errorf("open output %.200q: %w", name, plainfile.Cause(err))
	}
	return f, nil
}

func openFile(tree Tree, name string) (fs.File, fs.FileInfo, error) {
	if name == "." {
		return nil, nil, ErrName
	}
	f, err := tree.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = plainfile.CheckFile(info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func openDir(tree Tree, name string) (fs.ReadDirFile, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if list, ok := f.(fs.ReadDirFile); ok && err == nil && info.IsDir() {
		return list, nil
	}
	f.Close()
	return nil, cmp.Or(err, ErrIrregular)
}

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
