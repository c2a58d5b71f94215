package run

import (
	"fmt"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/internal/text/redact"
)

// logs keeps what a program prints: the first and the last half of maxLog bytes.
type logs struct {
	mu         sync.Mutex
	stream     redact.Stream
	head, tail []byte
	total      int64
}

// Write never fails.
func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	l.keep(l.stream.Add(p, false))
	return n, nil
}

// end keeps what was held back, because a secret could have begun in it.
func (l *logs) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(l.stream.Add(nil, true))
}

func (l *logs) keep(p []byte) {
	l.total += int64(len(p))
	room := min(maxLog/2-len(l.head), len(p))
	l.head = append(l.head, p[:room]...)
	l.tail = append(l.tail, p[room:]...)
	if len(l.tail) > maxLog { // now and then, not each time
		l.tail = append([]byte(nil), l.tail[len(l.tail)-maxLog/2:]...)
	}
}

// String returns what was kept, and says what was not.
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
