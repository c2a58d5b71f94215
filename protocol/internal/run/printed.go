package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// printed keeps what a program writes to its standard output, which its logs have too.
type printed struct {
	from *os.File
	logs io.Writer
	most int64 // bytes, after which the program is ended

	text  []byte // at most maxResult+1
	total int64
}

// follow reads until the program ends. The function that it returns waits for the end, not
// for those that got away and hold the pipe.
func (p *printed) follow(kill func()) (wait func()) {
	if p == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		part := make([]byte, 32<<10)
		for {
			n, err := p.from.Read(part)
			_, _ = p.logs.Write(part[:n])
			p.text = append(p.text, part[:min(n, maxResult+1-len(p.text))]...)
			if p.total += int64(n); p.total > p.most {
				kill()
			}
			if err != nil {
				return
			}
		}
	}()
	return func() {
		_ = p.from.SetReadDeadline(time.Now().Add(pipeWait))
		<-done
	}
}

// result is what was printed: JSON, if it is that, else a text.
func (p *printed) result() (json.RawMessage, *Failure) {
	switch {
	case p == nil:
		return nil, nil
	case p.total > p.most:
		return nil, &Failure{TypeTooMuchOutput, "the run printed more than it may"}
	case len(p.text) > maxResult:
		return nil, &Failure{TypeOutputTooLarge, fmt.Sprintf("the script printed more than %d bytes, and wrote no RESULT_FILE", maxResult)}
	}
	if text := bytes.TrimSpace(p.text); json.Valid(text) {
		return text, nil
	}
	text, err := json.Marshal(strings.TrimRight(strings.ToValidUTF8(string(p.text), "\uFFFD"), "\r\n"))
	if err != nil {
		return nil, &Failure{TypeNotJSON, "what was printed is no text"}
	}
	return text, nil
}
