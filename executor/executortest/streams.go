package executortest

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/satchel-go/satchel/executor"
)

var streams = []conformance{
	{"stdin", stdin},
	{"no stdin is an empty one", noStdin},
	{"stdin that nobody reads", unreadStdin},
	{"stdin that never comes", silentStdin},
	{"both streams", bothStreams},
	{"head and tail", headAndTail},
	{"cut between characters", cutBetweenCharacters},
	{"just enough", justEnough},
	{"flood", flood},
	{"flood on both streams", floodBoth},
}

// keptOutput is how many bytes of a stream a Result has by default.
var keptOutput = int(executor.Limits{}.OrDefaults().Output)

func stdin(t *testing.T, b bench) {
	for _, text := range []string{"", "one line\n", "\x00\xff", strings.Repeat("0123456789", 100_000)} {
		cmd := b.command("wc", "-c")
		cmd.Stdin = strings.NewReader(text)
		equal(t, "bytes that arrived", len(text), atoi(t, b.output(cmd)))
	}
}

func noStdin(t *testing.T, b bench) {
	equal(t, "input", b.output(b.sh("cat; echo end")), "end\n")
}

func unreadStdin(t *testing.T, b bench) {
	cmd := b.sh("exec <&-; exit 3")
	cmd.Stdin = io.LimitReader(zeros{}, 1<<30)
	wantEnd(t, b.run(cmd), executor.ReasonExit, 3)
}

func silentStdin(t *testing.T, b bench) {
	read, write := io.Pipe()
	defer func() { _ = write.Close() }() // lets the goroutine that reads end
	cmd := b.sh("exit 4")
	cmd.Stdin = read
	endsSoon(t, b, 2*time.Second, func() time.Time {
		start := time.Now()
		wantEnd(t, b.run(cmd), executor.ReasonExit, 4)
		return start
	})
}

func bothStreams(t *testing.T, b bench) {
	result := b.run(b.sh("echo out; echo err >&2"))
	equal(t, "stdout", result.Stdout.String(), "out\n")
	equal(t, "stderr", result.Stderr.String(), "err\n")
}

func headAndTail(t *testing.T, b bench) {
	cmd := b.sh("echo first; i=0; while [ $i -lt 20000 ]; do echo line; i=$((i+1)); done; echo last; echo err >&2")
	cmd.Limits.Output = 1000
	result := b.run(cmd)
	wantEnd(t, result, executor.ReasonExit, 0)
	out := result.Stdout
	equal(t, "head", string(out.Head[:6]), "first\n")
	equal(t, "tail", string(out.Tail[len(out.Tail)-5:]), "last\n")
	equal(t, "kept", len(out.Head)+len(out.Tail), 1000)
	equal(t, "dropped", out.Dropped, 6+5*20000+5-1000)
	contains(t, "text", out.String(), "99011 bytes left out")
	equal(t, "stderr", result.Stderr.String(), "err\n")
}

func cutBetweenCharacters(t *testing.T, b bench) {
	for keep := int64(20); keep < 28; keep++ {
		cmd := b.sh(`i=0; while [ $i -lt 100 ]; do printf '\344\270\226'; i=$((i+1)); done`)
		cmd.Limits.Output = keep
		out := b.run(cmd).Stdout
		if !utf8.Valid(out.Head) || !utf8.Valid(out.Tail) {
			t.Errorf("keep %d: head %q, tail %q", keep, out.Head, out.Tail)
		}
		equal(t, "all bytes", int64(len(out.Head)+len(out.Tail))+out.Dropped, 300)
	}
}

func justEnough(t *testing.T, b bench) {
	cmd := b.sh("printf 12345678")
	cmd.Limits.Output = 8
	out := b.run(cmd).Stdout
	equal(t, "head", string(out.Head), "12345678")
	equal(t, "tail", len(out.Tail), 0)
	equal(t, "dropped", out.Dropped, 0)
}

func flood(t *testing.T, b bench) {
	cmd := b.sh("cat /dev/zero")
	cmd.Limits.OutputTotal = 1 << 20
	var result executor.Result
	endsSoon(t, b, 5*time.Second, func() time.Time {
		start := time.Now()
		result = b.run(cmd)
		return start
	})
	equal(t, "reason", result.Reason, executor.ReasonOutput)
	equal(t, "kept", len(result.Stdout.Head)+len(result.Stdout.Tail), keptOutput)
	if result.Stdout.Dropped < int64(1<<20-keptOutput) {
		t.Errorf("dropped %d bytes: ended too soon", result.Stdout.Dropped)
	}
}

func floodBoth(t *testing.T, b bench) {
	cmd := b.sh("trap '' TERM; yes >&2 & yes")
	cmd.Limits.OutputTotal = 1 << 20
	result := b.run(cmd)
	equal(t, "reason", result.Reason, executor.ReasonOutput)
	if !bytes.HasPrefix(result.Stdout.Head, []byte("y\n")) && !bytes.HasPrefix(result.Stderr.Head, []byte("y\n")) {
		t.Error("nothing was kept")
	}
}

// zeros is an endless input.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
