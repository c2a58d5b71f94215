package egress_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/executor/egress"
)

// hello is what a real client begins a handshake with.
func hello(t testing.TB, config *tls.Config) []byte {
	t.Helper()
	here, there := net.Pipe()
	go func() {
		_ = tls.Client(there, config).Handshake()
	}()
	defer there.Close()
	defer here.Close()
	head := make([]byte, 5)
	if _, err := io.ReadFull(here, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, int(head[3])<<8|int(head[4]))
	if _, err := io.ReadFull(here, body); err != nil {
		t.Fatal(err)
	}
	return append(head, body...)
}

// read returns the name, and the bytes that the proxy would send to the host: all that it has read,
// even beyond the message.
func read(b []byte) (string, []byte, error) {
	r := bufio.NewReaderSize(bytes.NewReader(b), 16)
	name, got, err := egress.ReadHello(r)
	rest, _ := io.ReadAll(r)
	return name, append(got, rest...), err
}

func TestReadHello(t *testing.T) {
	real := hello(t, &tls.Config{ServerName: "api.example.com", MinVersion: tls.VersionTLS12})
	more := append(slices.Clone(real), "and more"...)
	name, got, err := read(more)
	if name != "api.example.com" || err != nil || !bytes.Equal(got, more) {
		t.Fatalf("%q, %v, %d of %d bytes", name, err, len(got), len(more))
	}
	t.Run("in pieces", func(t *testing.T) {
		var pieces []byte
		for i := 5; i < len(real); i += 7 {
			part := real[i:min(i+7, len(real))]
			pieces = append(append(pieces, 22, 3, 1, 0, byte(len(part))), part...)
		}
		if name, got, err := read(pieces); name != "api.example.com" || err != nil || !bytes.Equal(got, pieces) {
			t.Errorf("%q, %v", name, err)
		}
	})
	t.Run("no name", func(t *testing.T) {
		if name, _, err := read(hello(t, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})); name != "" || err != nil { //nolint:gosec // nothing is sent
			t.Errorf("read: got %q, error %v, want %q", name, err, "")
		}
	})
	t.Run("cut", func(t *testing.T) {
		for n := range len(real) {
			if name, _, err := read(real[:n]); name != "" || err == nil {
				t.Fatalf("%d bytes: %q, %v", n, name, err)
			}
		}
	})
	t.Run("two names", func(t *testing.T) {
		at := bytes.Index(real, []byte("api.example.com")) - 9 // offset at which the extension begins
		twice := slices.Concat(real[:at], real[at:at+24], real[at:])
		grow := func(i, bytes int) { // grow adds to the lengths of the record, the message and the extensions
			n := 24
			for ; bytes > 0; bytes-- {
				n += int(twice[i+bytes-1])
				twice[i+bytes-1] = byte(n)
				n >>= 8
			}
		}
		grow(3, 2)
		grow(6, 3)
		extensions := 9 + 2 + 32
		extensions += 1 + int(twice[extensions])
		extensions += 2 + int(twice[extensions])<<8 + int(twice[extensions+1])
		extensions += 1 + int(twice[extensions])
		grow(extensions, 2)
		if name, _, err := read(twice); name != "" || err == nil {
			t.Errorf("%q, %v", name, err)
		}
	})
	for what, b := range map[string][]byte{
		"plain HTTP":    []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"a long record": {22, 3, 1, 255, 255, 1},
		"an empty one":  {22, 3, 1, 0, 0},
		"an alert":      {21, 3, 1, 0, 2, 1, 0},
		"a long hello":  {22, 3, 1, 0, 4, 1, 255, 255, 255},
		"no hello":      {22, 3, 1, 0, 4, 2, 0, 0, 0},
	} {
		if name, _, err := read(b); name != "" || err == nil {
			t.Errorf("%s: %q, %v", what, name, err)
		}
	}
}

func FuzzReadHello(f *testing.F) {
	f.Add(hello(f, &tls.Config{ServerName: "api.example.com", MinVersion: tls.VersionTLS12}))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		name, got, err := egress.ReadHello(bytes.NewReader(b))
		if len(got) > 1<<16 {
			t.Errorf("%d bytes kept", len(got))
		}
		if !bytes.HasPrefix(b, got) {
			t.Error("what is passed on is not what came")
		}
		if err != nil && name != "" {
			t.Errorf("a name %q and %v", name, err)
		}
	})
}
