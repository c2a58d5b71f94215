package tracelog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Errors of a trace that cannot be read.
var (
	ErrVersion = errors.New("unknown version of a trace")
	ErrNoLines = errors.New("no line of a trace")
	ErrSize    = fmt.Errorf("the trace has more than %d bytes of different lines: read fewer files", maxText)
)

// ReadFiles reads the files of one trace, in any order. It skips and counts broken lines.
// The error wraps [ErrVersion] if a line has another version, and [ErrNoLines] if no line of any
// file can be read.
func ReadFiles(names ...string) (*Trace, error) {
	r := NewReader()
	for _, name := range names {
		if err := r.addFile(name); err != nil {
			return nil, err
		}
	}
	return r.Trace()
}

// Reader reads the files of one trace.
type Reader struct {
	texts    *texts
	segments []*segment
	readable int
	cut      int
	size     int // bytes of the lines that are kept
	text     []byte
}

// NewReader returns a reader that has no files yet.
func NewReader() *Reader { return &Reader{texts: newTexts()} }

func (r *Reader) addFile(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read trace: %w", err)
	}
	defer file.Close()
	return r.Add(name, file)
}

// Add reads a file to its end. Errors name it by name.
func (r *Reader) Add(name string, file io.Reader) error {
	in := bufio.NewReaderSize(file, bufferSize)
	current := r.begin()
	for n := 1; ; n++ {
		text, err := r.line(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: line %d: %w", name, n, err)
		}
		done := errors.Is(err, io.EOF)
		if n == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if current, err = r.take(current, text); err != nil {
				return fmt.Errorf("read %s: line %d: %w", name, n, err)
			}
		}
		if done {
			return nil
		}
	}
}

// line returns the next line, which is valid until the next call, or broken for one that is too
// long. Its error is io.EOF with the last line.
func (r *Reader) line(in *bufio.Reader) ([]byte, error) {
	r.text = r.text[:0]
	tooLong := false
	for {
		part, err := in.ReadSlice('\n')
		if tooLong = tooLong || len(r.text)+len(part) > maxLine; !tooLong {
			if err == nil && len(r.text) == 0 {
				return part, nil
			}
			r.text = append(r.text, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong {
			return broken, err
		}
		return r.text, err
	}
}

// broken stands for a line that is too long.
var broken = []byte("{")

// take reads a line of the segment current. It returns the segment of the next line, a new one if
// the line begins a part.
func (r *Reader) take(current *segment, text []byte) (*segment, error) {
	one, err := r.texts.decode(text)
	if errors.Is(err, errBroken) {
		r.cut++
		return current, nil
	}
	if err != nil {
		return nil, err
	}
	r.readable++
	if one.header != nil {
		if len(current.records) > 0 {
			current = r.begin()
		}
		current.header = one.header
	}
	if one.value != nil {
		r.size += len(text)
	}
	current.records = append(current.records, record{one.head, one.value})
	if r.size+r.texts.size > maxText {
		return nil, ErrSize
	}
	return current, nil
}

func (r *Reader) begin() *segment {
	s := &segment{}
	r.segments = append(r.segments, s)
	return s
}

// Trace returns the trace of all files that were added.
func (r *Reader) Trace() (*Trace, error) {
	if r.readable == 0 {
		return nil, fmt.Errorf("%w: %d lines are broken", ErrNoLines, r.cut)
	}
	b := newBuilder(r.texts)
	b.trace.Cut = r.cut
	for _, p := range processes(r.segments) {
		b.process(p)
	}
	return b.finish(), nil
}
