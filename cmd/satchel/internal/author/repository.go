package author

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/internal/archive"
)

// gitScript runs git with the bounds of this package. Its first argument is the largest file that git
// writes, in blocks of 512 bytes. A system that lacks a bound ignores it.
var gitScript = fmt.Sprintf(`ulimit -v %d 2>/dev/null; ulimit -t %d 2>/dev/null; ulimit -f "$1" 2>/dev/null; shift; exec git "$@"`,
	maxGitMemory, maxGitSeconds)

// gitSettings make git ignore the user's settings and trust a repository of any owner. They
// keep no large file and no window of many files in memory, and run nothing. Git reads only the
// protocol that is added to them.
const gitSettings = `[safe]
	directory = *
[core]
	bigFileThreshold = 1m
	packedGitWindowSize = 16m
	packedGitLimit = 128m
	deltaBaseCacheLimit = 16m
	fsmonitor = false
	hooksPath = %[1]s
	attributesFile = %[1]s
[pack]
	threads = 1
	windowMemory = 64m
[index]
	threads = 1
[fetch]
	recurseSubmodules = false
	unpackLimit = 1
[transfer]
	unpackLimit = 1
[gc]
	auto = 0
[maintenance]
	auto = false
[protocol]
	version = 2
	allow = never
[protocol "%[2]s"]
	allow = always
`

// plainAttributes make git write the files as the commit has them.
const plainAttributes = "* !text !eol !crlf !ident !filter !working-tree-encoding !export-subst !export-ignore\n"

// repository runs git for one repository.
type repository struct {
	url    *url.URL
	ref    string // a commit or a tag, "" for the present branch
	folder string // in the repository, "" for all

	temp     string
	settings string
	proxy    *gitProxy // nil for a repository that is not reached by HTTP
	download int64     // the largest file that git writes, in blocks of 512 bytes
	messages strings.Builder
}

// git returns a command of git with the bounds of this package.
func (r *repository) git(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", gitScript, "git", strconv.FormatInt(r.download, 10)}, args...)...) //nolint:gosec // no argument is an option or a command
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "git", args...) //nolint:gosec // likewise
	}
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.temp, "XDG_CONFIG_HOME=" + r.temp, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + r.settings,
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ATTR_NOSYSTEM=1", "GIT_ASKPASS=", "LC_ALL=C",
	}
	for _, name := range []string{"SYSTEMROOT", "GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR"} { // where certificates are
		if value := os.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Stderr, cmd.WaitDelay = &headWriter{&r.messages, maxGitMessage}, gitGrace
	return cmd
}

// checkOut unpacks the files of a repository of this machine.
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
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	r := &repository{url: u, temp: temp, download: maxGitFile}
	dir, _, err := r.checkOut(ctx, filepath.Clean(path))
	return dir, err
}

// checkOutAt unpacks the files of a repository on another machine at a commit or a tag, and returns
// the commit. allow permits addresses that are not https, or lead to a loopback or private host.
func checkOutAt(ctx context.Context, a places.Address, allow func(*url.URL) bool, temp string) (dir, commit string, err error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return "", "", err
	}
	allowed := allow(u)
	if u.Scheme != "https" && (!allowed || !slices.Contains([]string{"http", "git", "file"}, u.Scheme)) {
		return "", "", fmt.Errorf("repository %s: %w: only https: is, unless --allow-url allows http:, git: or file:", a.URL, archive.ErrURL)
	}
	r := &repository{url: u, ref: a.Ref, folder: a.Path, temp: temp, download: maxRepositoryDownload / 512}
	if u.Scheme == "https" || u.Scheme == "http" {
		if r.proxy, err = startProxy(ctx, u, allowed); err != nil {
			return "", "", err
		}
		defer func() { _ = r.proxy.Close() }()
	}
	return r.checkOut(ctx, a.URL)
}

// checkOut unpacks the files without running anything that the repository or the user's settings
// name. A copy has none of its settings, such as the commands of filters. Git serves an untrusted
// repository without reading them. shown is the address for errors.
func (r *repository) checkOut(ctx context.Context, shown string) (dir, commit string, err error) {
	r.settings = filepath.Join(r.temp, "gitconfig")
	settings := fmt.Sprintf(gitSettings, filepath.ToSlash(os.DevNull), r.url.Scheme)
	if r.proxy != nil {
		settings += "[http]\n\tproxy = " + r.proxy.URL + "\n"
	}
	if err := os.WriteFile(r.settings, []byte(settings), 0o600); err != nil {
		return "", "", err
	}
	dir = filepath.Join(r.temp, "repository")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", "", err
	}
	limited, cancel := context.WithTimeout(ctx, repositoryWait)
	defer cancel()
	copied := filepath.Join(r.temp, "repository.git")
	if commit, err = r.fetch(limited, copied); err == nil {
		err = r.unpack(limited, copied, commit, dir)
	}
	if err == nil {
		return dir, commit, nil
	}
	switch why := r.proxy.reason(); {
	case ctx.Err() != nil:
		err = ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("it took more than %v", repositoryWait)
	case why != nil:
		err = why
	case errors.Is(err, archive.ErrRefused) || errors.Is(err, errReference) || errors.Is(err, errFolder):
	case r.isFull(copied):
		err = fmt.Errorf("%w: the server sends more than %d bytes", archive.ErrRefused, maxRepositoryDownload)
	default:
		err = fmt.Errorf("%w: %s", err, cli.OneLine(r.messages.String()))
	}
	return "", "", fmt.Errorf("read repository %s: %w", shown, err)
}

// isFull reports whether git has written as much as it may into one file.
func (r *repository) isFull(copied string) bool {
	full := false
	_ = filepath.WalkDir(copied, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		full = full || err == nil && info.Mode().IsRegular() && info.Size() >= r.download*512
		return err
	})
	return full
}

var (
	// errReference reports a reference that is no commit and no tag.
	errReference = errors.New("no commit to install")
	// errFolder reports a folder that the commit does not have.
	errFolder = errors.New("no folder")
)

// fetchedRef is the name of what was fetched.
const fetchedRef = "refs/satchel/fetched"

// fetch copies one commit into a new repository without working tree, and returns its name.
func (r *repository) fetch(ctx context.Context, copied string) (commit string, err error) {
	if err := r.git(ctx, "init", "--quiet", "--bare", "--template=", "--", copied).Run(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(copied, "info"), 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(copied, "info", "attributes"), []byte(plainAttributes), 0o600); err != nil {
		return "", err
	}
	wanted := "HEAD"
	switch {
	case places.IsCommit(r.ref):
		wanted = r.ref
	case r.ref != "":
		wanted = "refs/tags/" + r.ref
		if err := r.checkTag(ctx); err != nil {
			return "", err
		}
	}
	err = r.git(ctx, "-C", copied, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--refmap=",
		"--", r.url.String(), "+"+wanted+":"+fetchedRef).Run()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	parse := r.git(ctx, "-C", copied, "rev-parse", "--verify", "--quiet", fetchedRef+"^{commit}")
	parse.Stdout = &headWriter{&out, maxTreeLine}
	if err := parse.Run(); err != nil {
		return "", fmt.Errorf("%w: %s is no commit", errReference, wanted)
	}
	commit = strings.TrimSpace(out.String())
	if !places.IsCommit(commit) || places.IsCommit(r.ref) && commit != r.ref {
		return "", fmt.Errorf("%w: %s is no commit", errReference, r.ref)
	}
	return commit, nil
}

// checkTag returns an error if the reference is no tag. For a branch the error has its commit.
func (r *repository) checkTag(ctx context.Context) error {
	var out strings.Builder
	tag, branch := "refs/tags/"+r.ref, "refs/heads/"+r.ref
	list := r.git(ctx, "ls-remote", "--quiet", "--refs", "--", r.url.String(), tag, branch)
	list.Stdout = &headWriter{&out, maxRefs}
	if err := list.Run(); err != nil {
		return err
	}
	commits := make(map[string]string)
	for line := range strings.Lines(out.String()) {
		if commit, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && places.IsCommit(commit) {
			commits[name] = commit
		}
	}
	switch {
	case commits[tag] != "":
		return nil
	case commits[branch] != "":
		return fmt.Errorf("%w: %q is a branch, which moves; its commit now is %s", errReference, r.ref, commits[branch])
	}
	return fmt.Errorf("%w: there is no tag %q; a commit has 40 hex digits", errReference, r.ref)
}

// unpack checks the size of the files of a commit, and unpacks them.
func (r *repository) unpack(ctx context.Context, copied, commit, dir string) error {
	tree, top := commit, "skills"
	if r.folder != "" {
		tree += ":" + r.folder
		if base := path.Base(r.folder); !strings.HasPrefix(base, ".") {
			top = base
		}
	}
	found := &tally{}
	list := r.git(ctx, "-C", copied, "ls-tree", "-r", "-t", "-l", "-z", tree)
	list.Stdout = found
	if err := list.Run(); found.err != nil || err != nil {
		said := r.messages.String()
		switch {
		case found.err != nil:
			return found.err
		case r.folder != "" && (strings.Contains(said, "Not a valid object name") || strings.Contains(said, "not a tree object")):
			return fmt.Errorf("%w %q in the commit %s", errFolder, r.folder, commit)
		}
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tar := r.git(ctx, "-C", copied, "archive", "--format=tar", "--prefix="+top+"/", tree)
	out, err := tar.StdoutPipe()
	if err != nil {
		return err
	}
	if err := tar.Start(); err != nil {
		return err
	}
	// The ratio of text to its compressed size is high, so only the bounds of a repository count.
	in := &sequence{Reader: bufio.NewReader(out)}
	if _, err := in.Peek(1); err != nil {
		return cmp.Or(tar.Wait(), err)
	}
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

// tally counts the files of a list of git ls-tree -l -z. It fails at the bounds, and at the first
// name that no archive may have: git would end without saying which name it is.
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
		head, name, _ := bytes.Cut(t.line, []byte("\t"))
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
		case holdsSettings(string(name)):
			t.err = fmt.Errorf("%w: entry %.200q: it would be a repository of its own", archive.ErrRefused, name)
		default:
			t.err = archive.CheckName(string(name))
		}
	}
	return len(p), t.err
}

// holdsSettings reports whether a path leads into a directory that git would read settings from.
func holdsSettings(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		part = strings.TrimRight(part, " .")
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1") {
			return true
		}
	}
	return false
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
