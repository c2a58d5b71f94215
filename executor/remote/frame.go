package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// errProtocol is wrapped if the other side sent something that the protocol does not allow. The
// connection then ends.
var errProtocol = errors.New("protocol error")

// kind says what a frame is. The comments name the sender, and the body.
type kind byte

const (
	kindHello    kind = 1 + iota // both: helloMessage, helloAnswer
	kindBeat                     // both: nothing
	kindRun                      // host: runMessage; the stream is the command's
	kindStarted                  // runner: nothing; the process of Start runs
	kindCaptured                 // runner: output that the result has
	kindResult                   // runner: resultMessage
	kindData                     // both: bytes of a stream
	kindEnd                      // both: nothing; the sender sends no more data
	kindCredit                   // both: how many bytes more the other side may send
	kindStop                     // both: nothing; the sender takes no more data
	kindKill                     // host: nothing
	kindResize                   // host: rows and columns
	kindListen                   // runner: a port; the sandbox listens on it
	kindAccept                   // runner: acceptMessage; the stream is the new connection
	kindFind                     // host: findMessage
	kindFound                    // runner: foundMessage
	kinds                        // the number after the last
)

// bodies has the most and the least bytes of the body of each kind.
var bodies = [kinds]struct{ least, most int }{
	kindHello:    {2, maxMessage},
	kindRun:      {2, maxFrame - frameHead},
	kindCaptured: {1, maxData},
	kindResult:   {2, maxMessage},
	kindData:     {1, maxData},
	kindCredit:   {4, 4},
	kindResize:   {4, 4},
	kindListen:   {2, 2},
	kindAccept:   {2, maxMessage},
	kindFind:     {2, maxMessage},
	kindFound:    {2, maxMessage},
}

// frame is one message. The reader of a connection uses its body again for the next one.
type frame struct {
	kind   kind
	stream uint32
	body   []byte
}

// frameHead is the size of the kind and the stream, which the length counts, and lengthSize that of
// the length itself.
const frameHead, lengthSize = 5, 4

// appendFrame appends the bytes of a frame.
func appendFrame(to []byte, k kind, stream uint32, body []byte) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(frameHead+len(body)))
	to = append(to, byte(k))
	to = binary.BigEndian.AppendUint32(to, stream)
	return append(to, body...)
}

// frameReader reads frames.
type frameReader struct {
	from    io.Reader
	head    [lengthSize + frameHead]byte
	scratch []byte
}

// next returns the next frame. Its body is valid until the next call. The error is io.EOF at the end
// of the input between two frames.
func (r *frameReader) next() (frame, error) {
	if _, err := io.ReadFull(r.from, r.head[:]); err != nil {
		return frame{}, err
	}
	length := binary.BigEndian.Uint32(r.head[:])
	f := frame{kind: kind(r.head[lengthSize]), stream: binary.BigEndian.Uint32(r.head[lengthSize+1:])}
	switch {
	case length < frameHead || length > maxFrame:
		return frame{}, fmt.Errorf("%w: a frame of %d bytes", errProtocol, length)
	case f.kind == 0 || f.kind >= kinds:
		return frame{}, fmt.Errorf("%w: a frame of kind %d", errProtocol, f.kind)
	}
	size := int(length) - frameHead
	if bound := bodies[f.kind]; size < bound.least || size > bound.most {
		return frame{}, fmt.Errorf("%w: %d bytes in a frame of kind %d", errProtocol, size, f.kind)
	}
	var err error
	f.body, err = r.read(size)
	return f, err
}

// read reads the body of a frame. It takes memory as the bytes arrive.
func (r *frameReader) read(size int) ([]byte, error) {
	if cap(r.scratch) > readStep {
		r.scratch = nil // a large frame is rare
	}
	body := r.scratch[:0]
	for len(body) < size {
		step := min(size-len(body), readStep)
		if cap(body)-len(body) < step {
			grown := make([]byte, len(body), max(maxData, min(size, max(2*cap(body), len(body)+step))))
			copy(grown, body)
			body = grown
		}
		part := body[len(body) : len(body)+step]
		if _, err := io.ReadFull(r.from, part); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		body = body[:len(body)+step]
	}
	r.scratch = body
	return body, nil
}
