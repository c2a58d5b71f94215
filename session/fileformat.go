package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core"
)

// fileFormat is the first field of every file of a value.
const fileFormat = "satchel session value 2"

// fileHeader is the first line of a file of a value. After it come the bytes of the value,
// and after them a line break and the hex SHA-256 of all before it. The sum tells a
// complete file from a damaged one.
type fileHeader struct {
	Format string `json:"format"`
	// Session and Agent are the exact bytes of the key, which JSON strings could not
	// hold: any string can be an id.
	Session []byte `json:"session"`
	Agent   []byte `json:"agent"`
	Version int64  `json:"version"`
}

// saved is a value of a key as a file has it.
type saved struct {
	key   core.SessionKey
	value Value
}

// encodeFile returns the content of the file of a value. A file of more than 16 MiB is an
// error that wraps [ErrTooLarge].
func encodeFile(s saved) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(s.value.Data) + 300)
	if err := json.NewEncoder(&b).Encode(fileHeader{fileFormat, []byte(s.key.Session), []byte(s.key.Agent), s.value.Version}); err != nil {
		return nil, fmt.Errorf("encode session value: %w", err)
	}
	b.Write(s.value.Data)
	sum := sha256.Sum256(b.Bytes())
	b.WriteByte('\n')
	b.Write(append(hex.AppendEncode(b.AvailableBuffer(), sum[:]), '\n'))
	if b.Len() > maxFile {
		return nil, fmt.Errorf("encode session value of %d bytes: %w", b.Len(), ErrTooLarge)
	}
	return b.Bytes(), nil
}

var errIncomplete = errors.New("content is incomplete or was changed")

// decodeFile reads what encodeFile wrote. Everything else is an error: a file that was cut
// or changed, and a format that this release does not know.
func decodeFile(data []byte) (s saved, err error) {
	const sumLine = 1 + sha256.Size*2 + 1
	if len(data) < sumLine {
		return saved{}, errIncomplete
	}
	content, last := data[:len(data)-sumLine], data[len(data)-sumLine:]
	sum := sha256.Sum256(content)
	if string(last) != "\n"+hex.EncodeToString(sum[:])+"\n" {
		return saved{}, errIncomplete
	}
	first, rest, _ := bytes.Cut(content, []byte("\n"))
	var header fileHeader
	if err := json.Unmarshal(first, &header); err != nil {
		return saved{}, fmt.Errorf("decode header: %w", err)
	}
	if header.Format != fileFormat {
		return saved{}, fmt.Errorf("unknown format %q", header.Format)
	}
	s.key = core.SessionKey{Session: string(header.Session), Agent: string(header.Agent)}
	s.value = Value{Version: header.Version, Data: rest[:len(rest):len(rest)]}
	return s, nil
}
