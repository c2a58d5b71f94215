package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// entry is one entry of an archive.
type entry struct {
	name, text, link string
	kind             byte // type flag of a tar entry
	mode             int64
}

func tarOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Size: int64(len(e.text)), Mode: e.mode, Uid: 0, Format: tar.FormatPAX}
		if e.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		mode := fs.FileMode(e.mode)
		if mode == 0 {
			mode = 0o644
		}
		switch e.kind {
		case tar.TypeSymlink:
			mode |= fs.ModeSymlink
		case tar.TypeChar:
			mode |= fs.ModeDevice | fs.ModeCharDevice
		}
		h.SetMode(mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, e.text+e.link); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const skill = "---\nname: pdf\ndescription: Reads.\n---\nBody.\n"

// unpacked lists a directory as "path mode text".
func unpacked(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			out[filepath.ToSlash(rel)] = "-> " + target
			return err
		}
		data, err := os.ReadFile(path)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestUnpacks(t *testing.T) {
	entries := []entry{
		{name: "./pdf/"}, {name: "./pdf/SKILL.md", text: skill},
		{name: "pdf/scripts/x.sh", text: "echo", mode: 0o4755}, {name: "pdf/ä.md", text: "x"},
	}
	entries[0].kind = tar.TypeDir
	var zipped []entry
	for _, e := range entries {
		if e.kind == 0 {
			zipped = append(zipped, e)
		}
	}
	for what, data := range map[string][]byte{
		"tar": tarOf(t, entries...), "tar.gz": gzipped(t, tarOf(t, entries...)), "zip": zipOf(t, zipped...),
	} {
		dir := t.TempDir()
		if err := UnpackInto(t.Context(), bytes.NewReader(data), int64(len(data)), dir, Limits{}); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		got := unpacked(t, dir)
		if len(got) != 3 || got["pdf/SKILL.md"] != skill || got["pdf/ä.md"] != "x" {
			t.Errorf("%s: %q", what, got)
		}
		info, err := os.Stat(filepath.Join(dir, "pdf/scripts/x.sh"))
		if err != nil || info.Mode()&(fs.ModeSetuid|0o111) != 0o111&^0 && filepath.Separator == '/' {
			t.Errorf("%s: %v, %v", what, info.Mode(), err)
		}
	}
	dir := t.TempDir()
	if err := UnpackInto(t.Context(), strings.NewReader(skill), int64(len(skill)), dir, Limits{}); err != nil || unpacked(t, dir)["SKILL.md"] != skill {
		t.Errorf("a bare SKILL.md: %v", err)
	}
}

// hostile archives, each with a part of the reason.
func hostile(t testing.TB) map[string][]byte {
	many := make([]entry, 101)
	for i := range many {
		many[i].name = fmt.Sprintf("f%d", i)
	}
	tars := map[string][]entry{
		"leaves the archive":   {{name: "../evil", text: "x"}},
		"leaves the archive 2": {{name: "a/../../evil", text: "x"}},
		"absolute":             {{name: "/tmp/evil", text: "x"}},
		"backslash":            {{name: `a\..\..\evil`, text: "x"}},
		"has a drive":          {{name: "C:evil", text: "x"}},
		"control characters":   {{name: "a\nb", text: "x"}},
		"one name to many":     {{name: "Read.md", text: "x"}, {name: "READ.md", text: "y"}},
		"one name to many 2":   {{name: "\u00e9.md", text: "x"}, {name: "e\u0301.md", text: "y"}},
		"one name to many 3":   {{name: "a/x", text: "x"}, {name: "A/y", text: "y"}},
		"there twice":          {{name: "a", text: "x"}, {name: "a", text: "y"}},
		"which is no folder":   {{name: "a", text: "x"}, {name: "a/b", text: "y"}},
		"which is no folder 2": {{name: "a", kind: tar.TypeSymlink, link: "b"}, {name: "a/evil", text: "y"}},
		"link to":              {{name: "a", kind: tar.TypeSymlink, link: "../../etc/passwd"}},
		"link to 2":            {{name: "a", kind: tar.TypeSymlink, link: "/etc/passwd"}},
		"link to 3":            {{name: "a/b/x", text: "x"}, {name: "a/b/up", kind: tar.TypeSymlink, link: "../.."}, {name: "z", kind: tar.TypeSymlink, link: "a/b/up/../etc"}},
		"link to 22":           {{name: "top/x", text: "x"}, {name: "top/l", kind: tar.TypeSymlink, link: ".."}}, // the archive's single folder becomes the root, so this link leaves it
		"link to 23":           {{name: "a", kind: tar.TypeSymlink, link: "b"}, {name: "b", kind: tar.TypeSymlink, link: "a"}},
		"hard link":            {{name: "a", kind: tar.TypeLink, link: "b"}},
		"device":               {{name: "a", kind: tar.TypeChar}},
		"device 2":             {{name: "a", kind: tar.TypeFifo}},
		"more than 100":        many,
		"deeper than":          {{name: strings.Repeat("a/", 40) + "x", text: "x"}},
		"longer than":          {{name: strings.Repeat("a", 2000), text: "x"}},
	}
	all := map[string][]byte{
		"times the size": gzipped(t, tarOf(t, entry{name: "zeros", text: strings.Repeat("\x00", 4<<20)})),
		"neither zip":    []byte("hello"),
		"damaged":        append([]byte("PK\x03\x04"), make([]byte, 100)...),
		"damaged 2":      gzipped(t, tarOf(t, entry{name: "a", text: strings.Repeat("x", 5000)}))[:60],
	}
	for why, entries := range tars {
		all[why+" (tar)"] = tarOf(t, entries...)
		switch {
		case strings.HasPrefix(why, "hard link"), strings.HasPrefix(why, "device 2"):
		default:
			all[why+" (zip)"] = zipOf(t, entries...)
		}
	}
	return all
}

func TestRefuses(t *testing.T) {
	for why, data := range hostile(t) {
		base := t.TempDir()
		dir := filepath.Join(base, "in")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		err := UnpackInto(t.Context(), bytes.NewReader(data), int64(len(data)), dir, Limits{MaxFiles: 100})
		reason := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(why, " (tar)"), " (zip)"), " 23")
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", why, err)
		}
		if left, err := os.ReadDir(base); err != nil || len(left) != 1 {
			t.Errorf("%s: something was written beside the directory: %v, %v", why, left, err)
		}
	}
}

func TestLimits(t *testing.T) {
	data := tarOf(t, entry{name: "a", text: strings.Repeat("x", 1000)}, entry{name: "b", text: strings.Repeat("x", 1000)})
	for what, limits := range map[string]Limits{"file": {MaxFile: 999}, "all": {MaxUnpacked: 1999}, "entries": {MaxFiles: 1}} {
		if err := UnpackInto(t.Context(), bytes.NewReader(data), int64(len(data)), t.TempDir(), limits); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := UnpackInto(ctx, bytes.NewReader(data), int64(len(data)), t.TempDir(), Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// headers returns a tar with only PAX headers, local or global ones. The tar reader reads them
// without returning an entry.
func headers(t *testing.T, kind byte, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	one := tarOf(t, entry{name: "x", text: strings.Repeat(" ", 900<<10)})
	text := fmt.Sprintf("%d comment=%s\n", 800_000, strings.Repeat("x", 800_000-len("800000 comment=\n")))
	for range n {
		head := bytes.Clone(one[:512])
		head[156] = kind
		copy(head[124:136], fmt.Sprintf("%011o\x00", len(text)))
		copy(head[148:156], "        ")
		sum := 0
		for _, c := range head {
			sum += int(c)
		}
		copy(head[148:156], fmt.Sprintf("%06o\x00 ", sum))
		b.Write(head)
		b.WriteString(text)
		b.Write(make([]byte, (512-len(text)%512)%512))
	}
	return b.Bytes()
}

// TestHeadersOnly: the bounds of files also apply to the bytes that a tar or zip reader reads before
// the first entry.
func TestHeadersOnly(t *testing.T) {
	local, global := headers(t, tar.TypeXHeader, 30), headers(t, tar.TypeXGlobalHeader, 30)
	for name, c := range map[string]struct {
		data   []byte
		limits Limits
		want   string
	}{
		"local":       {local, Limits{MaxUnpacked: 4 << 20}, "its headers are more than 4194304 bytes"},
		"global":      {global, Limits{MaxUnpacked: 4 << 20}, "its headers are more than 4194304 bytes"},
		"global, few": {global, Limits{MaxFiles: 10}, "there are more than 10 entries"},
		"ratio":       {gzipped(t, local), Limits{}, "times the size of the archive"},
		"a zip":       {longList(t, 200_000), Limits{}, "the list of its entries is too long"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := UnpackInto(t.Context(), bytes.NewReader(c.data), int64(len(c.data)), t.TempDir(), c.limits)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 96<<20 {
			t.Errorf("%s: %d MiB were allocated", name, n>>20)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := 3
	in := readerAt(func(p []byte, at int64) (int, error) {
		if left--; left == 0 {
			cancel()
		}
		return bytes.NewReader(local).ReadAt(p, at)
	})
	if err := UnpackInto(ctx, in, int64(len(local)), t.TempDir(), Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled between headers: %v", err)
	}
}

type readerAt func([]byte, int64) (int, error)

func (r readerAt) ReadAt(p []byte, at int64) (int, error) { return r(p, at) }

// longList is a zip with many entries in its list.
func longList(t *testing.T, n int) []byte {
	t.Helper()
	one := zipOf(t, entry{name: "a"})
	at := bytes.Index(one, []byte("PK\x01\x02"))
	end := bytes.Index(one, []byte("PK\x05\x06"))
	list, tail := one[at:end], bytes.Clone(one[end:])
	binary.LittleEndian.PutUint16(tail[8:], uint16(n))
	binary.LittleEndian.PutUint16(tail[10:], uint16(n))
	binary.LittleEndian.PutUint32(tail[12:], uint32(n*len(list)))
	return slices.Concat(one[:at], bytes.Repeat(list, n), tail)
}

// TestFoldersCount: folders that only names of entries have count as files do.
func TestFoldersCount(t *testing.T) {
	var entries []entry
	for n := range 40 {
		entries = append(entries, entry{name: fmt.Sprintf("%d/%sf", n, strings.Repeat("d/", 25))})
	}
	for name, data := range map[string][]byte{"zip": zipOf(t, entries...), "tar": tarOf(t, entries...)} {
		dir := t.TempDir()
		err := UnpackInto(t.Context(), bytes.NewReader(data), int64(len(data)), dir, Limits{MaxFiles: 100})
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "more than 100 files and folders") {
			t.Errorf("%s: %v", name, err)
		}
		made := 0
		if err := filepath.WalkDir(dir, func(string, fs.DirEntry, error) error { made++; return nil }); err != nil || made > 130 {
			t.Errorf("%s: %d were made, %v", name, made, err)
		}
		if err := UnpackInto(t.Context(), bytes.NewReader(data), int64(len(data)), t.TempDir(), Limits{MaxFiles: 40 * 27}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCacheForgets: the cache removes an archive without address after a day, and the rest of a
// crash too. The sum of all archives is bounded.
func TestCacheForgets(t *testing.T) {
	version := func(n int) []byte {
		return zipOf(t, entry{name: "SKILL.md", text: skill + fmt.Sprint(n)}, entry{name: "data", text: strings.Repeat("x", 50<<10)})
	}
	s := open(t, version(0))
	c := NewCache(filepath.Join(t.TempDir(), "cache"))
	now := time.Now()
	c.now = func() time.Time { return now }
	get := func(address, pin string) Unpacked {
		t.Helper()
		got, err := c.Get(t.Context(), address, Options{Allow: allowAll, SHA256: pin})
		if err != nil || got.Stale != nil {
			t.Fatal(err, got.Stale)
		}
		return got
	}
	kept := func() (n int) {
		for _, s := range c.list() {
			if isDigest(s.digest) {
				n++
			}
		}
		return n
	}
	change := func(n int) Unpacked {
		data := version(n)
		s.data.Store(&data)
		now = now.Add(6 * time.Minute)
		return get(s.URL, "")
	}
	first := get(s.URL, "")
	crashed := filepath.Join(c.dir, ".unpack-crashed")
	if err := os.Mkdir(crashed, 0o700); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		change(n + 1)
	}
	if _, err := os.Stat(first.Dir); err != nil || kept() != 4 {
		t.Errorf("within a day %d archives are there, %v", kept(), err)
	}
	for range 23 { // an archive that is pinned counts as used
		now = now.Add(time.Hour)
		get(s.URL, first.SHA256)
	}
	now = now.Add(3 * time.Hour)
	get(s.URL, first.SHA256)
	get(s.URL, "")
	if _, err := os.Stat(first.Dir); err != nil || kept() != 2 {
		t.Errorf("after a day %d archives are there, %v", kept(), err)
	}
	if _, err := os.Stat(crashed); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a crash has left: %v", err)
	}
	c.most = 200 << 10
	for n := range 8 {
		last := change(n + 10)
		if _, err := os.Stat(last.Dir); err != nil || kept() > 3 {
			t.Errorf("under a bound %d archives are there, %v", kept(), err)
		}
	}
	for n := range 3 { // all of these archives are in use
		_, err := c.Get(t.Context(), fmt.Sprint(s.URL, "/", n), Options{Allow: allowAll})
		if err != nil {
			t.Fatal(err)
		}
	}
	before := get(s.URL, "")
	c.most = 130 << 10
	data := version(100)
	s.data.Store(&data)
	now = now.Add(6 * time.Minute)
	other, err := c.Get(t.Context(), s.URL+"/other", Options{Allow: allowAll})
	if err != nil || other.SHA256 != sumOf(data) {
		t.Fatalf("%+v, %v", other, err)
	}
	data = version(101)
	s.data.Store(&data)
	now = now.Add(6 * time.Minute)
	if got, err := c.Get(t.Context(), s.URL, Options{Allow: allowAll}); err != nil || got.Dir != before.Dir || !errors.Is(got.Stale, ErrRefused) {
		t.Errorf("where all are in use: %+v, %v", got, err)
	}
}

// archiveServer serves an archive.
type archiveServer struct {
	*httptest.Server
	data  atomic.Pointer[[]byte]
	asked atomic.Int64
	down  atomic.Bool
}

func open(t *testing.T, data []byte) *archiveServer {
	s := &archiveServer{}
	s.data.Store(&data)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		if s.down.Load() {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		if r.URL.Path == "/loop" {
			http.Redirect(w, r, "/loop", http.StatusFound)
			return
		}
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		now := *s.data.Load()
		w.Header().Set("ETag", `"`+sumOf(now)+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(now))
	}))
	t.Cleanup(s.Close)
	return s
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func allowAll(*url.URL) bool { return true }

func TestGet(t *testing.T) {
	first := zipOf(t, entry{name: "top/pdf/SKILL.md", text: skill})
	s := open(t, first)
	c := NewCache(filepath.Join(t.TempDir(), "cache"))
	now := time.Now()
	c.now = func() time.Time { return now }
	get := func(opts Options) (Unpacked, error) {
		t.Helper()
		opts.Allow = allowAll
		return c.Get(t.Context(), s.URL+"/skills.zip", opts)
	}
	got, err := get(Options{})
	if err != nil || got.SHA256 != sumOf(first) || unpacked(t, got.Dir)["pdf/SKILL.md"] != skill {
		t.Fatalf("%+v, %v", got, err)
	}
	if again, err := get(Options{}); err != nil || again != got || s.asked.Load() != 1 {
		t.Errorf("asked %d times, %v", s.asked.Load(), err)
	}
	if kept, err := c.Get(t.Context(), s.URL+"/skills.zip", Options{}); !errors.Is(err, ErrURL) {
		t.Errorf("without the permission that it was fetched with: %+v, %v", kept, err)
	}
	now = now.Add(6 * time.Minute)
	if again, err := get(Options{}); err != nil || again != got || s.asked.Load() != 2 {
		t.Errorf("not modified: asked %d times, %v", s.asked.Load(), err)
	}
	second := zipOf(t, entry{name: "pdf/SKILL.md", text: skill + "More.\n"}, entry{name: "xls/SKILL.md", text: skill})
	s.data.Store(&second)
	now = now.Add(6 * time.Minute)
	if next, err := get(Options{}); err != nil || next.SHA256 != sumOf(second) || len(unpacked(t, next.Dir)) != 2 {
		t.Errorf("%+v, %v", next, err)
	}
	s.down.Store(true)
	now = now.Add(6 * time.Minute)
	if stale, err := get(Options{}); err != nil || stale.SHA256 != sumOf(second) || stale.Stale == nil {
		t.Errorf("a server that is down: %+v, %v", stale, err)
	}
	if pinned, err := get(Options{SHA256: "sha256:" + sumOf(first)}); err != nil || pinned.SHA256 != sumOf(first) {
		t.Errorf("a pinned archive needs no server: %+v, %v", pinned, err)
	}
	s.down.Store(false)
	other := sumOf([]byte("other"))
	_, err = get(Options{SHA256: other})
	if want := "archive " + s.URL + "/skills.zip: sha256 is " + sumOf(second) + ", pinned is " + other; !errors.Is(err, ErrPin) || err.Error() != want {
		t.Errorf("a wrong pin: %v, want %s", err, want)
	}
	hostileOne := zipOf(t, entry{name: "../x", text: "x"})
	s.data.Store(&hostileOne)
	now = now.Add(6 * time.Minute)
	if kept, err := get(Options{}); err != nil || kept.SHA256 != sumOf(second) || !errors.Is(kept.Stale, ErrRefused) {
		t.Errorf("a newer one that is refused: %+v, %v", kept, err)
	}
	if _, err := NewCache(t.TempDir()).Get(t.Context(), s.URL, Options{Allow: allowAll, Limits: Limits{MaxDownload: 10}}); !errors.Is(err, ErrRefused) {
		t.Errorf("too large a download: %v", err)
	}
}

func TestWrongPinLeavesNothing(t *testing.T) {
	s := open(t, zipOf(t, entry{name: "SKILL.md", text: skill}))
	dir := t.TempDir()
	if _, err := NewCache(dir).Get(t.Context(), s.URL, Options{Allow: allowAll, SHA256: sumOf(nil)}); !errors.Is(err, ErrPin) {
		t.Error(err)
	}
	if left := unpacked(t, dir); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// No error shows a key in an address.
func TestErrorsShowNoKeys(t *testing.T) {
	s := open(t, []byte("no archive"))
	host := strings.TrimPrefix(s.URL, "http://")
	for what, try := range map[string]struct{ url, pin string }{
		"a pin that is none":      {"https://user:word@example.com/x.zip?token=secret", "abc"},
		"an address that is none": {"https://user:word word@example.com/?token=secret", ""},
		"another scheme":          {"ftp://user:word@example.com/x.zip?token=secret", ""},
		"a wrong pin":             {"http://user:word@" + host + "/x.zip?token=secret", sumOf(nil)},
		"no archive":              {"http://user:word@" + host + "/x.zip?token=secret", ""},
		"a host that is refused":  {"https://user:word@127.0.0.1:1/x.zip?token=secret", ""},
		"a redirect":              {s.URL + "?to=ftp://user:word@127.0.0.1/%3Ftoken=secret", ""},
		"redirects without end":   {s.URL + "/loop?token=secret", ""},
	} {
		allow := func(u *url.URL) bool { return u.Host == host }
		_, err := NewCache(t.TempDir()).Get(t.Context(), try.url, Options{Allow: allow, SHA256: try.pin})
		if err == nil || strings.Contains(err.Error(), "word") || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), ":") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestLinksEndWithContext makes no link for a caller that has gone.
func TestLinksEndWithContext(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	u := &unpacker{ctx: ctx, root: root, limits: Limits{}.orDefaults(), names: make(names), links: []link{{"a", "b"}, {"c", "b"}}}
	if err := u.explain(u.makeLinks()); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("%v, %v", made, err)
	}
}

func TestAddresses(t *testing.T) {
	s := open(t, zipOf(t, entry{name: "SKILL.md", text: skill}))
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.URL, http.StatusFound)
	}))
	defer secure.Close()
	port := s.URL[strings.LastIndex(s.URL, ":"):]
	for what, try := range map[string]struct {
		url  string
		opts Options
	}{
		"http":                          {s.URL, Options{}},
		"file":                          {"file:///etc/passwd", Options{}},
		"another scheme":                {"ftp://example.com/x", Options{Allow: allowAll}},
		"no scheme":                     {"/etc/passwd", Options{Allow: allowAll}},
		"loopback by https":             {"https://127.0.0.1" + port, Options{}},
		"a name of this machine":        {"https://localhost" + port, Options{}},
		"a redirect from https to http": {secure.URL, Options{Client: secure.Client(), Allow: allowAll}},
		"a redirect to a private host":  {s.URL + "?to=https://10.0.0.1/x", Options{Allow: func(u *url.URL) bool { return "http://"+u.Host == s.URL }}},
		"a redirect to http":            {s.URL + "?to=http://example.com/x", Options{Allow: func(u *url.URL) bool { return "http://"+u.Host == s.URL }}},
		"redirects without end":         {s.URL + "/loop", Options{Allow: allowAll}},
	} {
		if got, err := NewCache(t.TempDir()).Get(t.Context(), try.url, try.opts); !errors.Is(err, ErrURL) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	for address, public := range map[string]bool{
		"127.0.0.1": false, "10.1.2.3": false, "192.168.0.1": false, "172.16.0.1": false, "169.254.169.254": false, "100.64.0.1": false,
		"0.0.0.0": false, "::1": false, "fe80::1": false, "fc00::1": false, "::ffff:127.0.0.1": false, "64:ff9b::7f00:1": false,
		"255.255.255.255": false, "224.0.0.1": false, "8.8.8.8": true, "2606:4700::1111": true,
	} {
		if isPublic(netip.MustParseAddr(address)) != public {
			t.Errorf("%s: public is not %v", address, public)
		}
	}
}

func TestLocal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skills.tgz")
	if err := os.WriteFile(file, gzipped(t, tarOf(t, entry{name: "SKILL.md", text: skill})), 0o600); err != nil {
		t.Fatal(err)
	}
	c := NewCache(t.TempDir())
	got, err := c.Local(t.Context(), file, Options{})
	if err != nil || unpacked(t, got.Dir)["SKILL.md"] != skill {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(file, tarOf(t, entry{name: "SKILL.md", text: skill + "New."}), 0o600); err != nil {
		t.Fatal(err)
	}
	if next, err := c.Local(t.Context(), file, Options{}); err != nil || next.SHA256 == got.SHA256 {
		t.Errorf("an edited file: %+v, %v", next, err)
	}
	if _, err := c.Local(t.Context(), t.TempDir(), Options{}); err == nil {
		t.Error("a directory is an archive")
	}
}

// Whatever the bytes are, nothing is written outside and nothing is unbounded.
func FuzzUnpack(f *testing.F) {
	for _, data := range hostile(f) {
		if len(data) < 64<<10 {
			f.Add(data)
		}
	}
	f.Add(zipOf(f, entry{name: "a/SKILL.md", text: skill}))
	f.Add(tarOf(f, entry{name: "a/SKILL.md", text: skill}, entry{name: "a/l", kind: tar.TypeSymlink, link: "SKILL.md"}))
	limits := Limits{MaxUnpacked: 1 << 20, MaxFile: 1 << 19, MaxFiles: 100}
	f.Fuzz(func(t *testing.T, data []byte) {
		base, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(base, "in")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		refused := UnpackInto(t.Context(), bytes.NewReader(data), int64(len(data)), dir, limits)
		if left, err := os.ReadDir(base); err != nil || len(left) != 1 {
			t.Fatalf("beside the directory: %v, %v", left, err)
		}
		size, files, folders := int64(0), 0, 0
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if d.IsDir() {
				folders++
			}
			if d.Type().IsRegular() {
				files, size = files+1, size+info.Size()
			}
			if !d.IsDir() && !d.Type().IsRegular() && d.Type() != fs.ModeSymlink {
				t.Errorf("%s is a %v", path, d.Type())
			}
			if to, err := filepath.EvalSymlinks(path); refused == nil && err == nil && !strings.HasPrefix(to, dir) {
				t.Errorf("%s leads to %s", path, to)
			}
			return err
		})
		if err != nil || size > limits.MaxUnpacked+32<<10 || files > limits.MaxFiles || folders > limits.MaxFiles+maxDepth+1 {
			t.Fatalf("%d bytes in %d files, %v", size, files, err)
		}
	})
}

func ExampleCache_Get() {
	dir, err := os.MkdirTemp("", "archives")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	_, err = NewCache(dir).Get(context.Background(), "http://127.0.0.1/skills.zip", Options{})
	fmt.Println(err)
	// Output: archive http://127.0.0.1/skills.zip: address not allowed: only https: is, unless the host allows another
}
