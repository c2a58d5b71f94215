package author

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/internal/archive"
)

// gitScript runs git with the bounds of this package. A system that lacks a bound ignores it.
var gitScript = fmt.Sprintf(`ulimit -v %d 2>/dev/null; ulimit -t %d 2>/dev/null; ulimit -f %d 2>/dev/null; exec git "$@"`,
	maxGitMemory, maxGitSeconds, maxGitFile)

// gitSettings make git ignore the user's settings and trust a repository of any owner. They
// keep no large file and no window of many files in memory.
const gitSettings = `[safe]
	directory = *
[core]
	bigFileThreshold = 1m
	packedGitWindowSize = 16m
	packedGitLimit = 128m
	deltaBaseCacheLimit = 16m
[pack]
	threads = 1
	windowMemory = 64m
[index]
	threads = 1
`

// repository runs git for one repository of this machine.
type repository struct{ temp, settings string }

// git returns a command of git with the bounds of this package.
func (r repository) git(ctx context.Context, messages io.Writer, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", gitScript, "git"}, args...)...) //nolint:gosec // the address is one of a file
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "git", args...) //nolint:gosec // likewise
	}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.temp, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + r.settings, "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1"}
	cmd.Stderr, cmd.WaitDelay = messages, gitGrace
	return cmd
}

// checkOut unpacks the files of a repository of this machine, without running anything that it
// or the user's settings name. A copy has none of its settings, such as the commands of
// filters. Git serves an untrusted repository without reading them.
func checkOut(ctx context.Context, source, temp string) (string, error) {
	path := source
	if rest, ok := strings.CutPrefix(source, "git+file://"); ok {
		u, err := url.Parse("file://" + rest)
		if err != nil {
			return "", fmt.Errorf("%w: %q is no address", cli.ErrUsage, source)
		}
		path = filepath.FromSlash(u.Path)
	}
	address, err := places.FileURL(path)
	if err != nil {
		return "", err
	}
	r := repository{temp, filepath.Join(temp, "gitconfig")}
	if err := os.WriteFile(r.settings, []byte(gitSettings), 0o600); err != nil {
		return "", err
	}
	dir := filepath.Join(temp, "repository")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, repositoryWait)
	defer cancel()
	var messages strings.Builder
	if err := r.unpack(ctx, &headWriter{&messages, maxGitMessage}, address, dir); err != nil {
		return "", fmt.Errorf("read repository %s: %w: %s", filepath.Clean(path), err, cli.OneLine(messages.String()))
	}
	return dir, nil
}

// unpack clones a repository, checks its size, and unpacks its files.
func (r repository) unpack(ctx context.Context, messages io.Writer, address, dir string) error {
	copied := filepath.Join(r.temp, "repository.git")
	clone := r.git(ctx, messages, "clone", "--quiet", "--bare", "--no-local", "--depth=1", "--no-tags", "--template=", "--", address, copied)
	if err := clone.Run(); err != nil {
		return err
	}
	found := &tally{}
	list := r.git(ctx, messages, "-C", copied, "ls-tree", "-r", "-t", "-l", "-z", "HEAD")
	list.Stdout = found
	if err := list.Run(); found.err != nil || err != nil {
		if found.err != nil {
			return found.err
		}
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tar := r.git(ctx, messages, "-C", copied, "archive", "--format=tar", "--prefix=skills/", "HEAD")
	out, err := tar.StdoutPipe()
	if err != nil {
		return err
	}
	if err := tar.Start(); err != nil {
		return err
	}
	// The ratio of text to its compressed size is high, so only the bounds of a repository count.
	in := &sequence{Reader: bufio.NewReader(out)}
	err = archive.UnpackInto(ctx, in, maxRepositoryBytes, dir, archive.Limits{MaxUnpacked: maxRepositoryBytes, MaxFiles: maxRepositoryFiles + 2})
	if err == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(in.Reader, maxPadding)) // what fills the last record
	}
	if err != nil {
		cancel()
	}
	if ended := tar.Wait(); err == nil {
		err = ended
	}
	return err
}

// tally counts the files of a list of git ls-tree -l -z, and fails at the bounds.
type tally struct {
	line  []byte
	files int
	bytes int64
	err   error
}

// Write implements io.Writer.
func (t *tally) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && t.err == nil; {
		line, after, whole := bytes.Cut(rest, []byte{0})
		t.line = append(t.line, line[:min(len(line), maxTreeLine-len(t.line))]...) // the size comes before the name
		if rest = after; !whole {
			break
		}
		head, _, _ := bytes.Cut(t.line, []byte("\t"))
		if fields := bytes.Fields(head); len(fields) == 4 {
			size, _ := strconv.ParseInt(string(fields[3]), 10, 64)
			t.bytes += size
		}
		t.files, t.line = t.files+1, t.line[:0]
		switch {
		case t.files > maxRepositoryFiles:
			t.err = fmt.Errorf("%w: it has more than %d files and folders", archive.ErrRefused, maxRepositoryFiles)
		case t.bytes > maxRepositoryBytes:
			t.err = fmt.Errorf("%w: its files have more than %d bytes", archive.ErrRefused, maxRepositoryBytes)
		}
	}
	return len(p), t.err
}

// sequence is a stream with a ReadAt for the unpacker, which first reads the beginning to detect the
// format, and then everything in order.
type sequence struct {
	*bufio.Reader
	peeked bool
}

// ReadAt implements io.ReaderAt for these reads only. It ignores the offset.
func (s *sequence) ReadAt(p []byte, _ int64) (int, error) {
	if s.peeked {
		return s.Read(p)
	}
	s.peeked = true
	head, err := s.Peek(len(p))
	return copy(p, head), err
}

// headWriter keeps the first room bytes and drops the rest.
type headWriter struct {
	*strings.Builder
	room int
}

func (l *headWriter) Write(p []byte) (int, error) {
	l.Builder.Write(p[:min(len(p), l.room)])
	l.room -= min(len(p), l.room)
	return len(p), nil
}
