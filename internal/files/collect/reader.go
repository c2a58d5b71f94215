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

// reader reads collected files within the limits of a Spec.
type reader struct {
	tree     Tree
	notes    *notes
	inline   bool
	maxFile  int64 // bytes to inline of one file
	maxTotal int64 // bytes to inline of all further files
	hasCut   bool  // maxTotal was too small for a file
}

// read returns a file with its type, and with its content if that is wanted. It reports false
// after a warning if the file cannot be read.
func (r *reader) read(name string) (File, bool) {
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
			want = r.readSize(file.Size)
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
	classify(&file, data)
	if r.inline {
		r.inlineText(&file, data)
	}
	return file, true
}

// readSize returns how much to read of a text file of a given size.
func (r *reader) readSize(size int64) int64 {
	want := int64(headBytes)
	if size <= MaxPrimary {
		want = size
	}
	if r.inline {
		want = max(want, min(r.maxFile, r.maxTotal))
	}
	return min(want, size)
}

// readUpTo reads from f until data has size bytes, or to the end of f.
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

// classify sets Text and Blank from the part of the file that was read.
func classify(file *File, data []byte) {
	cut := int64(len(data)) < file.Size
	file.Text = isTextType(file.MIME) && validText(data, cut)
	file.Blank = file.Text && !cut && len(bytes.TrimSpace(data)) == 0
}

// inlineText sets the content of a file, within the limits.
func (r *reader) inlineText(file *File, data []byte) {
	if !file.Text {
		if isTextType(file.MIME) {
			r.notes.add(file.Name, "not inlined: it is not valid UTF-8 text")
		}
		return
	}
	r.hasCut = r.hasCut || r.maxTotal < min(r.maxFile, file.Size)
	content := data[:min(int64(len(data)), r.maxFile, r.maxTotal)]
	if int64(len(content)) < file.Size {
		content = content[:len(content)-halfRune(content)]
		file.Truncated = true
	}
	file.Inlined = len(content) > 0 || file.Size == 0
	file.Content = string(content)
	r.maxTotal -= int64(len(content))
}

// validText reports whether data is UTF-8 without NUL. Text that was cut may end
// with an incomplete rune.
func validText(data []byte, cut bool) bool {
	if cut {
		data = data[:len(data)-halfRune(data)]
	}
	return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

// halfRune returns the length of an incomplete rune at the end of data, 0 if there is none.
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
	// Open opens a plain file, or a directory as an [fs.ReadDirFile]. It follows no symbolic
	// link and never waits for a writer. It never opens a file outside the tree, even if a
	// command moves directories meanwhile. The error wraps [ErrIrregular] for any other kind
	// of file, and [ErrName] for a malformed name.
	Open(name string) (fs.File, error)
}

// Dir returns the tree below root. On systems without unix file information it cannot recognise
// hard links.
func Dir(root *os.Root) Tree { return plainfile.Tree{Root: root} }

// Open opens a plain file of a tree for reading. The name is a slash path as in [File]. The
// error wraps [ErrName] for a malformed name, and [ErrIrregular] for a directory or any other
// file that is not plain.
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
	// MIME is the type, as [MIME] returns it.
	MIME string
	// Size is the size on disk in bytes.
	Size int64
	// Text reports whether the part that was read is text. That is the whole file up to
	// [MaxPrimary] bytes, the inlined part, or else the first 3 KiB.
	Text bool
	// Blank reports whether a file of at most [MaxPrimary] bytes contains only white space.
	Blank bool
	// Content is the text if Inlined: valid UTF-8 without NUL; only the beginning
	// of the file if Truncated.
	Content string
	// Inlined reports that the caller asked for Content and that it is present. It is never
	// set for a binary file.
	Inlined bool
	// Truncated reports that Content lacks some or all of the text because of a limit.
	Truncated bool
}

// Ref returns the stable reference of the file, workspace://out/report.txt.
func (f File) Ref() string { return "workspace://" + f.Name }

// Primary returns the file that a model most likely wants to read, or false if there is none.
// Candidates are text files that are not blank and have at most [MaxPrimary] bytes. Plain text
// and Markdown come first, then other text, data and code, then images such as SVG. Of equal
// ones the first by name wins. The contents need not be inlined.
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

// rank returns the place of the file's type in the order of [Primary].
func (f File) rank() int {
	switch {
	case f.MIME == "text/plain" || f.MIME == "text/markdown":
		return 0
	case strings.HasPrefix(f.MIME, "image/"):
		return 2
	}
	return 1
}
