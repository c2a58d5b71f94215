package run

import (
	"fmt"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/internal/text/redact"
)

// logs keeps the output of a program: its first and last bytes, at most maxLog together, without
// secrets.
type logs struct {
	mu         sync.Mutex
	stream     redact.Stream
	head, tail []byte
	total      int64
}

// Write implements io.Writer. It never fails.
func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	l.keep(l.stream.Add(p, false))
	return n, nil
}

// end adds the last bytes. Write has held them back because a secret could begin in them.
func (l *logs) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(l.stream.Add(nil, true))
}

// keep adds bytes to the head until it is full, then to the tail.
func (l *logs) keep(p []byte) {
	l.total += int64(len(p))
	room := min(maxLog/2-len(l.head), len(p))
	l.head = append(l.head, p[:room]...)
	l.tail = append(l.tail, p[room:]...)
	if len(l.tail) > maxLog { // seldom: to shorten it at each write would be slow
		l.tail = append([]byte(nil), l.tail[len(l.tail)-maxLog/2:]...)
	}
}

// String returns the output, with a note about the bytes that were left out.
func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.tail[max(len(l.tail)-maxLog/2, 0):]
	text := string(l.head)
	if left := l.total - int64(len(l.head)+len(last)); left > 0 {
		text += fmt.Sprintf("\n[… %d bytes left out …]\n", left)
	}
	return strings.ToValidUTF8(text+string(last), "\uFFFD")
}
