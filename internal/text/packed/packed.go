// Package packed deflates what stores on servers keep: most of it is text.
package packed

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"sync"
)

// Deflate writes in to out as DEFLATE data that may refer to dict; eof ends the data.
// Stores pass StatelessDeflate of github.com/klauspost/compress/flate, which keeps no
// memory between calls, so that this module does not require it.
type Deflate func(out io.Writer, in []byte, eof bool, dict []byte) error

// Dictionary is text that data is expected to repeat, so that it takes little space.
// What was packed with one is read with that one only.
type Dictionary string

// None is the dictionary for text of any kind.
const None Dictionary = ""

// Records is the dictionary of session values. Stores hold what was packed with it,
// so it never changes: fields that are new to it only take more space.
const Records Dictionary = `{"name":"","digest":"","old":true,"framed":true}],"listing":"","anchor":{"hash":"","ordinal":,"turn":},` +
	`"supersedes":true,"spent":true,"ended":true},"others":[{"id":"","name":"","after":}],"held":[{"skill":"","call":,"tools":[""]}],` +
	`"grants":[{"tool":"","use":"","skills":{"notes":[{"anchor":{"text":""}],"terminals":,"runs":true,"begun":true,"text":"",` +
	`"skill_run","Arguments":"{\"skill\":\"\",\"command\":\"\"}"},"tokens":["no_skills":true,"compact":[{` +
	`"docs":[""],"all":true,{"call":,"turn":,"skill":"","digest":"","body":true,"seen":true}],` +
	`"pending":[{"call":,"from":{"ID":"call_","Name":"skill_load","Arguments":"{\"skill\":\"\"}"},"done":true,` +
	`"answer":"loaded: \n[skill# +@]"}],"returns":{"sent":,"front":{"messages":1,"sum":},"recent":[{"skill":"","turn":1}],"overview":"","listing":""}` +
	`{"record":2,"turn":1,"token":"","user":{"hash":"","ordinal":,"turn":},` +
	`"calls":,"uses":,"active":[{"skill":"","call":1,"id":"fs:dir:","digest":"","used":,"loaded":},`

// Pack deflates data.
func Pack(data []byte, words Dictionary, deflate Deflate) []byte {
	var b bytes.Buffer
	_ = deflate(&b, data, true, []byte(words)) // a buffer takes everything
	return b.Bytes()
}

// readers are used again: a new one takes 40 KB.
var readers = sync.Pool{New: func() any { return flate.NewReader(bytes.NewReader(nil)) }}

// Unpack is the inverse of Pack for at most limit bytes. More of them, and what Pack
// did not write, is an error.
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
