// Package packed compresses the values and texts that stores on servers keep.
package packed

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"sync"
)

// Deflate writes in to out as DEFLATE data that may refer to dict; eof ends the data. Stores
// pass StatelessDeflate of github.com/klauspost/compress/flate, which keeps no memory between
// calls. It is a parameter so that this module does not require that one.
type Deflate func(out io.Writer, in []byte, eof bool, dict []byte) error

// Dictionary is text that packed data often repeats. Text of the dictionary takes little space
// in packed data. Data must be unpacked with the dictionary with which it was packed.
type Dictionary string

// None is the dictionary for text of any kind.
const None Dictionary = ""

// Records is the dictionary of session values. Stores hold data that was packed with it, so it
// must never change. New fields of a session value only take more space.
const Records Dictionary = `{"name":"","digest":"","old":true,"framed":true}],"listing":"","anchor":{"hash":"","ordinal":,"turn":},` +
	`"supersedes":true,"spent":true,"ended":true},"others":[{"id":"","name":"","after":}],"held":[{"skill":"","call":,"tools":[""]}],` +
	`"grants":[{"tool":"","use":"","skills":{"notes":[{"anchor":{"text":""}],"terminals":,"runs":true,"begun":true,"text":"",` +
	`"skill_run","Arguments":"{\"skill\":\"\",\"command\":\"\"}"},"tokens":["no_skills":true,"compact":[{` +
	`"docs":[""],"all":true,{"call":,"turn":,"skill":"","digest":"","body":true,"seen":true}],` +
	`"pending":[{"call":,"from":{"ID":"call_","Name":"skill_load","Arguments":"{\"skill\":\"\"}"},"done":true,` +
	`"answer":"loaded: \n[skill# +@]"}],"returns":{"sent":,"front":{"messages":1,"sum":},"recent":[{"skill":"","turn":1}],"overview":"","listing":""}` +
	`{"record":2,"turn":1,"token":"","user":{"hash":"","ordinal":,"turn":},` +
	`"calls":,"uses":,"active":[{"skill":"","call":1,"id":"fs:dir:","digest":"","used":,"loaded":},`

// Pack compresses data.
func Pack(data []byte, words Dictionary, deflate Deflate) []byte {
	var b bytes.Buffer
	_ = deflate(&b, data, true, []byte(words)) // writing to a buffer never fails
	return b.Bytes()
}

// readers pools decompressors, because a new one takes 40 KB.
var readers = sync.Pool{New: func() any { return flate.NewReader(bytes.NewReader(nil)) }}

// Unpack is the inverse of Pack. It fails if the data is longer than limit bytes, or if Pack has
// not written it.
func Unpack(data []byte, words Dictionary, limit int) ([]byte, error) {
	r := readers.Get().(io.Reader)
	defer readers.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(data), []byte(words)); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.Grow(min(4*len(data), limit) + bytes.MinRead)
	if _, err := out.ReadFrom(io.LimitReader(r, int64(limit)+1)); err != nil {
		return nil, err
	}
	if out.Len() > limit {
		return nil, fmt.Errorf("more than %d bytes", limit)
	}
	return out.Bytes(), nil
}
