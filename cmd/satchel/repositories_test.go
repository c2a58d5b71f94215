package main

import (
	"bytes"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
)

// gitRepository is a repository of a test, and the server that publishes it.
type gitRepository struct {
	t    *testing.T
	dir  string
	base string // of the server's files
}

func newGitRepository(t *testing.T) *gitRepository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is missing:", err)
	}
	r := &gitRepository{t: t, base: t.TempDir()}
	r.dir = filepath.Join(r.base, "skills.git")
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	return r
}

// git runs git in the repository and returns what it prints.
func (r *gitRepository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *gitRepository) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	overwrite(r.t, file, text)
}

// commit commits all files and returns the commit.
func (r *gitRepository) commit() string {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-qm", "x")
	return r.git("rev-parse", "HEAD")
}

// backend returns git's own server of repositories. It counts the requests.
func (r *gitRepository) backend(asked *atomic.Int32) http.Handler {
	r.t.Helper()
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		r.t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + r.base, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked.Add(1)
		if v := q.Header.Get("Git-Protocol"); v != "" {
			with := *backend
			with.Env = append(with.Env[:len(with.Env):len(with.Env)], "GIT_PROTOCOL="+v)
			with.ServeHTTP(w, q)
			return
		}
		backend.ServeHTTP(w, q)
	})
}

// TestInstallAtACommit installs from a server of git repositories at tags and commits, by HTTPS and
// by HTTP.
func TestInstallAtACommit(t *testing.T) {
	r := newGitRepository(t)
	r.write("skills/pdf/SKILL.md", described("pdf", "Reads PDF files."))
	r.write("skills/pdf/raw.md", "$Format:%H$\n$Id$\nline\r\n")
	r.write("skills/pdf/left.md", "left out by nothing")
	r.write("skills/xls/SKILL.md", described("xls", "Reads tables."))
	r.write(".gitattributes", "*.md filter=evil diff=evil text eol=crlf ident export-subst\nleft.md export-ignore\n")
	first := r.commit()
	raw := r.git("cat-file", "-p", "HEAD:skills/pdf/raw.md")
	r.git("tag", "-a", "-m", "x", "v1")
	r.git("tag", "release/1")
	var asked atomic.Int32
	plain := httptest.NewServer(r.backend(&asked))
	defer plain.Close()
	secure := httptest.NewTLSServer(r.backend(&asked))
	defer secure.Close()
	authority := filepath.Join(t.TempDir(), "ca.pem")
	overwrite(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	t.Setenv("GIT_SSL_CAINFO", authority)
	home := t.TempDir()
	for i, c := range []struct{ source, allow, skills string }{
		{plain.URL + "/skills.git@v1", plain.URL, "pdf xls"},
		{plain.URL + "/skills@release%2F1", plain.URL + "/", "pdf xls"},
		{plain.URL + "/skills.git@" + first + "#skills/pdf", plain.URL, "pdf"},
		{secure.URL + "/skills.git@v1#skills", secure.URL, "pdf xls"},
		{secure.URL + "/skills.git@" + first, secure.URL, "pdf xls"},
		{"file://" + filepath.ToSlash(r.dir) + "@v1", "file://" + filepath.ToSlash(r.base), "pdf xls"},
	} {
		dir := filepath.Join(home, fmt.Sprint(i))
		got := program(t, nil, "", "install", c.source, "--dir", dir, "--allow-url", c.allow)
		if got.code != cli.ExitDone || strings.Count(got.out, "installed ") != len(strings.Fields(c.skills)) || !strings.Contains(got.out, "commit "+first+"\n") {
			t.Errorf("%s: %+v", c.source, got)
			continue
		}
		if got := program(t, nil, "", "list", "--locked", "--names", dir); strings.Join(strings.Fields(got.out), " ") != c.skills {
			t.Errorf("%s: %+v", c.source, got)
		}
		if l, err := places.ReadLock(dir); err != nil || l.Skills[0].Commit != first || l.Skills[0].Source != c.source {
			t.Errorf("%s: lock %+v, %v", c.source, l, err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "pdf", "raw.md")); err != nil || strings.TrimSpace(string(text)) != strings.TrimSpace(raw) || !bytes.Contains(text, []byte("$Format:%H$")) {
			t.Errorf("%s: raw.md is %q, %v, in the commit %q", c.source, text, err, raw)
		}
		if _, err := os.Stat(filepath.Join(dir, "pdf", "left.md")); err != nil {
			t.Errorf("%s: %v", c.source, err)
		}
	}
	for source, want := range map[string]string{
		plain.URL + "/skills.git@main":                             `"main" is a branch, which moves; its commit now is ` + first,
		plain.URL + "/skills.git@v9":                               `there is no tag "v9"`,
		plain.URL + "/skills.git@" + first[:12]:                    "a commit has 40 hex digits",
		plain.URL + "/skills.git@" + strings.Repeat("a", 40):       "not our ref",
		plain.URL + "/skills.git@" + r.git("rev-parse", "v1"):      "is no commit",
		plain.URL + "/skills.git@v1#none":                          `no folder "none" in the commit`,
		plain.URL + "/skills.git@v1#skills/pdf/SKILL.md":           `no folder "skills/pdf/SKILL.md" in the commit`,
		plain.URL + "/none.git@v1":                                 "not found",
		secure.URL + "/skills.git@v1":                              "is not a public address",
		strings.Replace(plain.URL, "http", "ssh", 1) + "/r@v1":     "address not allowed",
		strings.Replace(plain.URL, "http", "ext", 1) + "/r@v1":     "address not allowed",
		strings.Replace(plain.URL, "http", "git", 1) + "/r@v1":     "address not allowed",
		"file://" + filepath.ToSlash(r.dir) + "@v1":                "address not allowed",
		"ext::sh -c 'touch " + filepath.ToSlash(home) + "/ran' @x": "no such file",
	} {
		dir := filepath.Join(home, "none")
		got := program(t, nil, "", "install", source, "--dir", dir, "--allow-url", plain.URL)
		if got.code != cli.ExitFailed || !strings.Contains(got.err, want) {
			t.Errorf("%s: %+v, want %q", source, got, want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s has written something", source)
		}
	}
	if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
		t.Error("a command in an address was run")
	}
	for _, source := range []string{plain.URL + "/skills.git", plain.URL + "/skills.git@--upload-pack=x", "http://user:word@127.0.0.1/r@v1"} {
		if got := program(t, nil, "", "install", source, "--dir", home, "--allow-url", plain.URL); got.code != cli.ExitUsage || strings.Contains(got.err, "word") {
			t.Errorf("%s: %+v", source, got)
		}
	}
}

// TestUpdateFollowsATag moves a tag: update installs what it is now. What is at a commit stays.
func TestUpdateFollowsATag(t *testing.T) {
	r := newGitRepository(t)
	r.write("pdf/SKILL.md", described("pdf", "Reads PDF files."))
	r.write("xls/SKILL.md", described("xls", "Reads tables."))
	first := r.commit()
	r.git("tag", "v1")
	var asked atomic.Int32
	server := httptest.NewServer(r.backend(&asked))
	defer server.Close()
	tagged, pinned := filepath.Join(t.TempDir(), "t"), filepath.Join(t.TempDir(), "p")
	for dir, ref := range map[string]string{tagged: "v1", pinned: first} {
		if got := program(t, nil, "", "install", server.URL+"/skills.git@"+ref, "--dir", dir, "--allow-url", server.URL); got.code != cli.ExitDone {
			t.Fatalf("%+v", got)
		}
	}
	update := func(dir string, more ...string) outcome {
		return program(t, nil, "", append([]string{"update", "--dir", dir, "--allow-url", server.URL}, more...)...)
	}
	if got := update(tagged); got.code != cli.ExitDone || strings.Count(got.out, "is what its source has\n") != 2 {
		t.Errorf("nothing has moved: %+v", got)
	}
	r.write("pdf/SKILL.md", described("pdf", "Writes PDF files."))
	r.write("csv/SKILL.md", described("csv", "Reads CSV files."))
	second := r.commit()
	r.git("tag", "-f", "v1")
	moved := fmt.Sprintf(" (its tag was commit %s and is %s)\n", first, second)
	if got := update(tagged, "--dry-run"); got.code != cli.ExitDone || !strings.Contains(got.out, "pdf: would be replaced by sha256:") || strings.Count(got.out, moved) != 2 {
		t.Errorf("--dry-run: %+v", got)
	}
	before := asked.Load()
	got := update(tagged, "--json")
	if got.code != cli.ExitDone || strings.Count(got.out, `"old_commit":"`+first+`","new_commit":"`+second+`"`) != 2 || strings.Count(got.out, `"replaced"`) != 1 {
		t.Errorf("update: %+v", got)
	}
	offer := "satchel: not installed: csv; satchel install " + server.URL + "/skills.git@v1 --dir " + tagged + " installs what is not there\n"
	if !strings.Contains(got.err, offer) {
		t.Errorf("a skill that is new: %+v", got)
	}
	if n := asked.Load() - before; n > 5 {
		t.Errorf("%d requests for two skills of one repository", n)
	}
	if l, err := places.ReadLock(tagged); err != nil || l.Skills[0].Commit != second || l.Skills[1].Commit != second {
		t.Errorf("lock: %+v, %v", l, err)
	}
	if text, err := os.ReadFile(filepath.Join(tagged, "pdf", "SKILL.md")); err != nil || !strings.Contains(string(text), "Writes PDF") {
		t.Errorf("%q, %v", text, err)
	}
	if got := program(t, nil, "", "list", "--locked", "--names", tagged); got.out != "pdf\nxls\n" {
		t.Errorf("list --locked: %+v", got)
	}
	if got := update(tagged); got.code != cli.ExitDone || strings.Contains(got.err, "not installed") {
		t.Errorf("the tag has not moved again: %+v", got)
	}
	again := program(t, nil, "", "install", server.URL+"/skills.git@v1", "--dir", tagged, "--allow-url", server.URL)
	if !strings.Contains(again.out, "installed csv to ") || strings.Count(again.out, "installed ") != 1 {
		t.Errorf("install again: %+v", again)
	}
	if err := os.RemoveAll(filepath.Join(tagged, "csv")); err != nil {
		t.Fatal(err)
	}
	before = asked.Load()
	if got := update(pinned); got.code != cli.ExitDone || strings.Count(got.out, "is what its source has\n") != 2 || asked.Load() != before {
		t.Errorf("a commit: %+v, %d requests", got, asked.Load()-before)
	}
	if got := program(t, nil, "", "lock", tagged); got.code != cli.ExitDone {
		t.Errorf("lock: %+v", got)
	}
	if l, err := places.ReadLock(tagged); err != nil || l.Skills[0].Commit != second {
		t.Errorf("locked again: %+v, %v", l, err)
	}
}

// TestHostileRepositories serves commits and answers that must not be installed.
func TestHostileRepositories(t *testing.T) {
	r := newGitRepository(t)
	r.write("pdf/SKILL.md", described("pdf", "Reads PDF files."))
	good := r.commit()
	blob := r.git("rev-parse", "HEAD:pdf/SKILL.md")
	// tree makes a commit of one folder with one entry more, and a tag for it.
	tag := func(name, mode, kind, at, path string) {
		t.Helper()
		inner := filepath.Join(t.TempDir(), "tree")
		overwrite(t, inner, fmt.Sprintf("100644 blob %s\tSKILL.md\n%s %s %s\t%s\n", blob, mode, kind, at, path))
		mktree := func(file string) string {
			in, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			cmd := exec.Command("git", "-C", r.dir, "mktree", "--missing")
			cmd.Stdin = in
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimSpace(string(out))
		}
		folder := mktree(inner)
		overwrite(t, inner, fmt.Sprintf("040000 tree %s\tpdf\n", folder))
		r.git("tag", name, r.git("commit-tree", "-m", "x", mktree(inner)))
	}
	r.write("target", "../../../../etc/passwd")
	out := r.git("hash-object", "-w", "target")
	r.write("target", "SKILL.md")
	in := r.git("hash-object", "-w", "target")
	tag("out", "120000", "blob", out, "link.md")
	tag("in", "120000", "blob", in, "link.md")
	tag("settings", "040000", "tree", r.git("rev-parse", "HEAD:pdf"), ".GIT")
	tag("submodule", "160000", "commit", strings.Repeat("1", 40), "module")
	// Names that git mktree refuses.
	id, err := hex.DecodeString(r.git("rev-parse", "HEAD:pdf/SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, entry := range map[string]string{"dots": "..", "up": "../../x", "absolute": "/tmp/x", "self": "."} {
		r.write("entries", "100644 SKILL.md\x00"+string(id)+"100644 "+entry+"\x00"+string(id))
		r.git("tag", name, r.git("commit-tree", "-m", "x", r.git("hash-object", "-t", "tree", "--literally", "-w", "entries")))
	}
	var asked atomic.Int32
	server := httptest.NewServer(r.backend(&asked))
	defer server.Close()
	away := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another origin was asked") }))
	defer away.Close()
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch {
		case strings.HasPrefix(q.URL.Path, "/away"):
			http.Redirect(w, q, away.URL+q.URL.Path, http.StatusFound)
		case strings.HasPrefix(q.URL.Path, "/endless"):
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			_, _ = w.Write([]byte("001e# service=git-upload-pack\n0000"))
			for q.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte("0100"+strings.Repeat("a", 252)), 256)); err != nil {
					return
				}
			}
		case strings.HasPrefix(q.URL.Path, "/login"):
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = w.Write([]byte("<html>"))
		}
	}))
	defer bad.Close()
	for source, want := range map[string]string{
		server.URL + "/skills.git@out":       "leaves the archive",
		server.URL + "/skills.git@settings":  "it would be a repository of its own",
		server.URL + "/skills.git@dots":      `entry "..": the name leaves the archive`,
		server.URL + "/skills.git@up":        `entry "../../x": the name leaves the archive`,
		server.URL + "/skills.git@absolute":  `entry "/tmp/x": the name is absolute`,
		server.URL + "/skills.git@self":      "invalid path '.'",
		server.URL + "/skills.git@in":        "",
		server.URL + "/skills.git@submodule": "",
		server.URL + "/skills.git@" + good:   "",
		bad.URL + "/away@" + good:            "a redirect to another origin",
		bad.URL + "/endless@" + good:         "the server sends more than 67108864 bytes",
		bad.URL + "/login@" + good:           "could not read Username",
		bad.URL + "/page@" + good:            "dumb http transport",
	} {
		dir := filepath.Join(t.TempDir(), "to")
		got := program(t, nil, "", "install", source, "--dir", dir, "--allow-url", server.URL, "--allow-url", bad.URL, "--allow-url", away.URL)
		if (want == "") != (got.code == cli.ExitDone) || !strings.Contains(got.err, want) {
			t.Errorf("%s: %+v, want %q", source, got, want)
		}
		if _, err := os.Stat(dir); want != "" && err == nil {
			t.Errorf("%s has written something", source)
		}
	}
}
