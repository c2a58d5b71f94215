// Package packed deflates what stores on servers keep: most of it is text.
package packed

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"sync"
)

// writers are used again: a new one takes hundreds of kilobytes.
var writers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	return w
}}

// Pack deflates data.
func Pack(data []byte) []byte {
	var b bytes.Buffer
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(&b)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// Unpack is the inverse of Pack for at most limit bytes. More of them, and what Pack
// did not write, is an error.
func Unpack(data []byte, limit int) ([]byte, error) {
	r := flate.NewReader(bytes.NewReader(data))
	out, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(out) > limit {
		return nil, fmt.Errorf("more than %d bytes", limit)
	}
	return out, nil
}
