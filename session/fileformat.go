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

// fileHeader is the first line of the file of a value. The bytes of the value follow, then a
// line break and the hex SHA-256 of all before it. The sum distinguishes a complete file from a
// damaged one.
type fileHeader struct {
	Format string `json:"format"`
	// Session and Agent are the exact bytes of the key: not every id is a valid JSON string.
	Session []byte `json:"session"`
	Agent   []byte `json:"agent"`
	Version int64  `json:"version"`
}

// entry is a value with its key, as a file contains it.
type entry struct {
	key   core.SessionKey
	value Value
}

// encodeFile returns the content of the file of a value. It fails with [ErrTooLarge] above 16
// MiB.
func encodeFile(s entry) ([]byte, error) {
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

// errIncomplete reports a file that was cut or changed.
var errIncomplete = errors.New("content is incomplete or was changed")

// decodeFile decodes a file of encodeFile. It fails if the file was cut or changed, or has a
// format that this release does not know.
func decodeFile(data []byte) (s entry, err error) {
	const sumLine = 1 + sha256.Size*2 + 1
	if len(data) < sumLine {
		return entry{}, errIncomplete
	}
	content, last := data[:len(data)-sumLine], data[len(data)-sumLine:]
	sum := sha256.Sum256(content)
	if string(last) != "\n"+hex.EncodeToString(sum[:])+"\n" {
		return entry{}, errIncomplete
	}
	first, rest, _ := bytes.Cut(content, []byte("\n"))
	var header fileHeader
	if err := json.Unmarshal(first, &header); err != nil {
		return entry{}, fmt.Errorf("decode header: %w", err)
	}
	if header.Format != fileFormat {
		return entry{}, fmt.Errorf("unknown format %q", header.Format)
	}
	s.key = core.SessionKey{Session: string(header.Session), Agent: string(header.Agent)}
	s.value = Value{Version: header.Version, Data: rest[:len(rest):len(rest)]}
	return s, nil
}
