package packed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// sealBytes is the length of the checksum of a seal.
const sealBytes = 8

var errSeal = errors.New("content was changed, or belongs elsewhere")

// Seal packs data with a checksum of the data and its place. place holds the names under which
// the store keeps it.
func Seal(data []byte, words Dictionary, deflate Deflate, place ...string) []byte {
	return append(checksum(data, place), Pack(data, words, deflate)...)
}

// Open is the inverse of Seal. It fails if the data is longer than limit bytes, was changed, or
// was sealed for another place.
func Open(sealed []byte, words Dictionary, limit int, place ...string) ([]byte, error) {
	if len(sealed) < sealBytes {
		return nil, errSeal
	}
	data, err := Unpack(sealed[sealBytes:], words, limit)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(sealed[:sealBytes], checksum(data, place)) {
		return nil, errSeal
	}
	return data, nil
}

func checksum(data []byte, place []string) []byte {
	h := sha256.New()
	var length [8]byte
	for _, name := range place {
		binary.BigEndian.PutUint64(length[:], uint64(len(name)))
		h.Write(length[:])
		h.Write([]byte(name))
	}
	h.Write(data)
	return h.Sum(nil)[:sealBytes]
}
