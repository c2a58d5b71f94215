package jsonrpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ErrTooLong is wrapped if a message is longer than MaxMessage. Nothing more can be read from its
// connection.
var ErrTooLong = errors.New("message too long")

// errFrame is wrapped by errors of the framing other than ErrTooLong. errCut means that the
// connection ended in the middle of a frame.
var (
	errFrame = errors.New("broken frame")
	errCut   = fmt.Errorf("%w: the input ends in the middle of it", errFrame)
)

// Framing reads messages from a connection: one per line, or each after a Content-Length as in
// LSP.
type Framing struct {
	r       *bufio.Reader
	headers bool
}

// NewFraming returns the framing of a connection. It reads the first byte: headers begin with C,
// and JSON never does. The error is that of the read.
func NewFraming(r io.Reader) (*Framing, error) {
	f := &Framing{r: bufio.NewReaderSize(r, readSize)}
	for {
		first, err := f.r.Peek(1)
		if err != nil {
			return f, err
		}
		switch first[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = f.r.Discard(1)
		default:
			f.headers = first[0] == 'C' || first[0] == 'c'
			return f, nil
		}
	}
}

// Read returns the next message. At the end of the connection the error is io.EOF, or wraps errCut
// in the middle of a frame.
func (f *Framing) Read() ([]byte, error) {
	if f.headers {
		return f.readFrame()
	}
	for {
		line, err := readLine(f.r, MaxMessage)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readLine returns the next line without its line end, which the last line may lack.
func readLine(r *bufio.Reader, most int) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > most+2 {
			return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLong, most)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}

// readFrame returns the next message of a connection with headers.
func (f *Framing) readFrame() ([]byte, error) {
	length, headerSize := -1, 0
	for {
		line, err := readLine(f.r, maxHeader)
		if errors.Is(err, io.EOF) && headerSize+len(line) > 0 {
			return nil, fmt.Errorf("%w, in its headers", errCut)
		}
		if err != nil {
			return nil, err
		}
		if headerSize += len(line); headerSize > maxHeader {
			return nil, fmt.Errorf("%w: headers of more than %d bytes", ErrTooLong, maxHeader)
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := strings.Cut(string(line), ":")
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 {
				return nil, fmt.Errorf("%w: header %.100q: want a length in bytes", errFrame, line)
			}
		}
	}
	switch {
	case length < 0:
		return nil, fmt.Errorf("%w: no Content-Length", errFrame)
	case length > MaxMessage:
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLong, length)
	}
	// The client may claim any length, so the buffer grows as bytes arrive.
	var b bytes.Buffer
	if n, err := io.CopyN(&b, f.r, int64(length)); err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w, after %d of %d bytes", errCut, n, length)
		}
		return nil, err
	}
	return b.Bytes(), nil
}

// frame returns a message with the line end or the headers of the connection.
func (f *Framing) frame(text []byte) []byte {
	if f.headers {
		return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(text)), text...)
	}
	return append(bytes.Clone(text), '\n')
}
