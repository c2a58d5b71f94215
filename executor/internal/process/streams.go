package process

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/satchel-go/satchel/executor"
)

// streams opens the streams and returns the child's ends.
func (p *process) streams() (ends [3]*os.File, err error) {
	if p.term.TTY {
		return p.terminal(p.term.Rows, p.term.Cols)
	}
	return p.pipes()
}

// pipes opens the pipes and returns the child's ends. An interactive process has one pipe for both
// outputs, as on a terminal, so that the order of stdout and stderr is kept.
func (p *process) pipes() (ends [3]*os.File, err error) {
	ours := []**os.File{&p.stdin, &p.stdout, &p.stderr}
	if p.interactive {
		ours = ours[:2]
	}
	for i, our := range ours {
		read, write, err := os.Pipe()
		if err != nil {
			p.closePipes()
			CloseAll(ends[:i])
			return ends, fmt.Errorf("open pipe: %w", err)
		}
		if i == 0 {
			ends[i], *our = read, write
		} else {
			ends[i], *our = write, read
		}
	}
	if p.interactive {
		ends[2] = ends[1]
	}
	return ends, nil
}

func (p *process) closePipes() { CloseAll([]*os.File{p.stdin, p.stdout, p.stderr}) }

// CloseAll closes files and ignores nil and closed ones.
func CloseAll(files []*os.File) {
	for _, file := range files {
		_ = file.Close()
	}
}

// copyStreams starts the goroutines that move the child's input and output.
func (p *process) copyStreams() {
	var output io.Reader = p.stdout
	if p.tty != nil {
		output = p.tty
	}
	p.copiers.Go(func() { p.copyOutput(output, p.outputs[0]) })
	if p.stderr != nil {
		p.copiers.Go(func() { p.copyOutput(p.stderr, p.outputs[1]) })
	}
	go func() {
		p.copiers.Wait()
		close(p.drained)
	}()
	switch {
	case p.input != nil:
		go p.copyInput()
	case !p.interactive:
		_ = p.stdin.Close()
	}
}

// copyOutput reads one stream to its end. It still reads while the command is being ended, so that
// no process hangs in a write.
func (p *process) copyOutput(from io.Reader, to *capture) {
	buf := make([]byte, copySize)
	for {
		n, err := from.Read(buf)
		_, _ = to.Write(buf[:n])
		if most := p.limits.OutputTotal; p.written.Add(int64(n)) > most && most >= 0 {
			p.endWith(executor.ReasonOutput)
		} else if p.sink != nil && n > 0 {
			_, _ = p.sink.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// copyInput copies the caller's reader to the input of the child. A Read of that reader cannot be
// interrupted, so the goroutine ends only when it returns.
func (p *process) copyInput() {
	_, _ = io.Copy(writerOnly{p.stdin}, p.input)
	_ = p.stdin.Close()
}

// writerOnly hides the ReadFrom of a file from io.Copy.
type writerOnly struct{ io.Writer }

// capture keeps the first headMax and the last tailMax bytes that are written to it. It takes memory
// only as needed.
type capture struct {
	mu               sync.Mutex
	headMax, tailMax int
	head, tail       []byte
	oldest           int // index in tail of its oldest byte, once tail is full
	total            int64
}

// newCapture returns a capture of at most most bytes.
func newCapture(most int64) *capture {
	return &capture{headMax: int(most - most/2), tailMax: int(most / 2)}
}

// Write implements io.Writer. It never fails.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	if room := c.headMax - len(c.head); room > 0 {
		take := min(room, len(p))
		c.head = append(c.head, p[:take]...)
		p = p[take:]
	}
	p = p[max(0, len(p)-c.tailMax):]
	if room := c.tailMax - len(c.tail); room > 0 {
		take := min(room, len(p))
		c.tail = append(c.tail, p[:take]...)
		p = p[take:]
	}
	for len(p) > 0 {
		copied := copy(c.tail[c.oldest:], p)
		c.oldest = (c.oldest + copied) % c.tailMax
		p = p[copied:]
	}
	return n, nil
}

// stream returns a copy of the bytes that the capture has.
func (c *capture) stream() executor.Stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	head := slices.Clone(c.head)
	tail := slices.Concat(c.tail[c.oldest:], c.tail[:c.oldest])
	if c.total == int64(len(head)+len(tail)) {
		return executor.Stream{Head: append(head, tail...)}
	}
	head, tail = wholeHead(head), wholeTail(tail)
	return executor.Stream{Head: head, Tail: tail, Dropped: c.total - int64(len(head)+len(tail))}
}

// wholeHead removes an incomplete character at the end.
func wholeHead(b []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		if last := b[len(b)-back:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return b[:len(b)-back]
			}
			return b
		}
	}
	return b
}

// wholeTail removes the rest of an incomplete character at the beginning.
func wholeTail(b []byte) []byte {
	cut := 0
	for cut < len(b) && cut < utf8.UTFMax-1 && !utf8.RuneStart(b[cut]) {
		cut++
	}
	return b[cut:]
}
