package egress

import (
	"bufio"
	"errors"
	"io"
)

// The bounds of a handshake's beginning: a record is at most 16 KiB and a little,
// and a ClientHello that needs more than four of them is not one.
const (
	recordHeader = 5
	mostRecord   = 1<<14 + 256
	mostHello    = 1 << 16
)

var errHello = errors.New("not the beginning of a TLS handshake")

// readHello reads the first message of a TLS client. It returns the name that it
// asks for, empty if it names none, and all bytes that were read, to be passed on.
func readHello(r *bufio.Reader) (name string, read []byte, err error) {
	var message []byte
	for {
		start := len(read)
		read = append(read, make([]byte, recordHeader)...)
		if _, err = io.ReadFull(r, read[start:]); err != nil {
			return "", read, err
		}
		header := read[start:]
		size := int(header[3])<<8 | int(header[4])
		if header[0] != 22 || header[1] != 3 || size == 0 || size > mostRecord || len(read)+size > mostHello {
			return "", read, errHello
		}
		start = len(read)
		read = append(read, make([]byte, size)...)
		if _, err = io.ReadFull(r, read[start:]); err != nil {
			return "", read, err
		}
		message = append(message, read[start:]...)
		if message[0] != 1 {
			return "", read, errHello
		}
		if len(message) >= 4 {
			size = int(message[1])<<16 | int(message[2])<<8 | int(message[3])
			if size > mostHello {
				return "", read, errHello
			}
			if len(message) >= 4+size {
				name, err = serverName(message[4 : 4+size])
				return name, read, err
			}
		}
	}
}

// bytesOf reads parts of a message that are preceded by their length.
type bytesOf struct {
	b   []byte
	bad bool
}

func (s *bytesOf) take(n int) []byte {
	if n > len(s.b) {
		s.bad = true
		n = len(s.b)
	}
	taken := s.b[:n]
	s.b = s.b[n:]
	return taken
}

// vector takes a part whose length stands before it in so many bytes.
func (s *bytesOf) vector(lengthBytes int) *bytesOf {
	n := 0
	for _, c := range s.take(lengthBytes) {
		n = n<<8 | int(c)
	}
	return &bytesOf{b: s.take(n), bad: s.bad}
}

// serverName finds the name in the body of a ClientHello (RFC 8446, 4.1.2; RFC
// 6066, 3). One that names two, or the same extension twice, could be read by the
// origin in another way than here.
func serverName(body []byte) (string, error) {
	s := &bytesOf{b: body}
	s.take(2 + 32) // version, random
	s.vector(1)    // session
	s.vector(2)    // cipher suites
	s.vector(1)    // compression methods
	if s.bad {
		return "", errHello
	}
	if len(s.b) == 0 {
		return "", nil // TLS 1.2 without extensions
	}
	extensions := s.vector(2)
	if extensions.bad || len(s.b) > 0 {
		return "", errHello
	}
	name, found := "", false
	for len(extensions.b) > 0 {
		kind := extensions.take(2)
		content := extensions.vector(2)
		if extensions.bad || content.bad {
			return "", errHello
		}
		if kind[0] != 0 || kind[1] != 0 {
			continue
		}
		list := content.vector(2)
		isName := list.take(1)
		text := list.vector(2)
		if found || list.bad || text.bad || content.bad || len(content.b) > 0 || len(list.b) > 0 || isName[0] != 0 || len(text.b) == 0 {
			return "", errHello
		}
		name, found = string(text.b), true
	}
	return name, nil
}
