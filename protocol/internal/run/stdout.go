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

// stdoutCopy keeps the standard output of a program, and passes it to the logs. Its methods accept
// nil.
type stdoutCopy struct {
	from *os.File
	logs io.Writer
	most int64 // bytes after which the program is killed

	text  []byte // at most maxResult+1
	total int64
}

// follow reads the output in the background. The caller calls wait after the program has ended. If
// another process still holds the pipe, wait returns after pipeWait.
func (p *stdoutCopy) follow(kill func()) (wait func()) {
	if p == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		part := make([]byte, readSize)
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

// result returns the output if it is JSON, and otherwise the output as a JSON string.
func (p *stdoutCopy) result() (json.RawMessage, *Failure) {
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
