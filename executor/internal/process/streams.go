package process

import (
	"fmt"
	"io"
	"os"

	"github.com/satchel-go/satchel/executor"
)

// streams opens the streams and returns the child's ends.
func (p *process) streams() (ends [3]*os.File, err error) {
	if p.term.TTY {
		return p.terminal(p.term.Rows, p.term.Cols)
	}
	return p.pipes()
}

// pipes opens the pipes and returns the child's ends. An interactive process has
// one pipe for both outputs, as on a terminal: otherwise a prompt on stderr would
// not appear in its place.
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
	p.copiers.Go(func() { p.copyOutput(output, p.out) })
	if p.stderr != nil {
		p.copiers.Go(func() { p.copyOutput(p.stderr, p.err) })
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

// copyOutput reads one stream to its end. It goes on while the command is being
// ended, so that no process hangs in a write.
func (p *process) copyOutput(from io.Reader, to *capture) {
	buf := make([]byte, 32<<10)
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

// copyInput feeds the child. A Read of the caller's reader cannot be interrupted,
// so the goroutine ends only when that Read returns.
func (p *process) copyInput() {
	_, _ = io.Copy(writerOnly{p.stdin}, p.input)
	_ = p.stdin.Close()
}

// writerOnly hides the other methods of a file from io.Copy.
type writerOnly struct{ io.Writer }
