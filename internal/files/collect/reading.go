package collect

import (
	"bytes"
	"io"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// headBytes is how much is read of each file to detect its type; sniffing looks
// at no more.
const headBytes = 3072

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
