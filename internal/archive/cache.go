package archive

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// Cache keeps unpacked archives in a directory, each in a folder named by the digest of its
// bytes. Processes may share it. The zero Cache is not usable.
//
// The archives have at most 2 GiB. To make room for a new one, the cache removes archives that
// belong to no address any more, or that were unused for a day. It also removes an archive
// without address a day after its last use.
type Cache struct {
	dir  string
	now  func() time.Time
	most int64 // bytes
}

// NewCache returns the cache in a directory. The first download makes the directory.
func NewCache(dir string) *Cache { return &Cache{dir: dir, now: time.Now, most: maxCache} }

// Unpacked is an archive on this machine.
type Unpacked struct {
	// Dir holds the files; a single folder at the top of the archive is stripped.
	Dir    string
	SHA256 string
	// Stale is set if this is the cached archive because a newer one cannot be fetched; it says
	// why.
	Stale error
}

// addressRecord records which archive an address had at the last check. The names of its fields
// are stable.
type addressRecord struct {
	URL      string    `json:"url"`
	SHA256   string    `json:"sha256"`
	ETag     string    `json:"etag,omitempty"`
	Modified string    `json:"modified,omitempty"`
	Checked  time.Time `json:"checked"`
}

// Get returns the archive at an address, unpacked. A pinned archive that is cached needs no
// network. Otherwise Get asks the server, at most once in 5 minutes, and unpacks the archive
// again if it has changed. If the server cannot be reached, Get returns the cached archive with
// Stale set.
func (c *Cache) Get(ctx context.Context, address string, opts Options) (Unpacked, error) {
	opts.Limits = opts.Limits.orDefaults()
	if opts.Timeout <= 0 {
		opts.Timeout = downloadTime
	}
	pin := strings.ToLower(strings.TrimPrefix(opts.SHA256, "sha256:"))
	if pin != "" {
		if !isDigest(pin) {
			return Unpacked{}, fmt.Errorf("%s %s: %w: %q is no SHA-256", opts.kind(), Shown(address), ErrPin, pin)
		}
		if dir, ok := c.has(pin); ok {
			c.use(pin)
			return Unpacked{Dir: dir, SHA256: pin}, nil
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return Unpacked{}, fmt.Errorf("%s %s: %w: it cannot be parsed", opts.kind(), Shown(address), ErrURL)
	}
	if err := opts.checkURL(u); err != nil { // a cached archive needs permission too
		return Unpacked{}, err
	}
	k, isCached := c.recall(address)
	dir, hasDir := c.has(k.SHA256)
	isCached = isCached && hasDir && pin == ""
	if isCached {
		c.use(k.SHA256)
	}
	if isCached && u.Scheme != "file" && c.now().Sub(k.Checked).Abs() < freshFor {
		return Unpacked{Dir: dir, SHA256: k.SHA256}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	q := &request{url: u, opts: opts}
	if isCached {
		q.etag, q.modified = k.ETag, k.Modified
	}
	out, err := c.fetch(ctx, q, address, pin)
	if err != nil && isCached && !errors.Is(err, ErrPin) {
		return Unpacked{Dir: dir, SHA256: k.SHA256, Stale: err}, nil
	}
	return out, err
}

// Local unpacks an archive that is a file of this machine.
func (c *Cache) Local(ctx context.Context, path string, opts Options) (Unpacked, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Unpacked{}, err
	}
	slash := filepath.ToSlash(abs)
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash
	}
	opts.Allow = func(u *url.URL) bool { return u.Scheme == "file" }
	return c.Get(ctx, (&url.URL{Scheme: "file", Path: slash}).String(), opts)
}

// Cached returns the folder of an archive by its SHA-256, and reports whether the cache has it. It does
// not count as a use of the archive.
func (c *Cache) Cached(digest string) (dir string, ok bool) { return c.has(digest) }

func isDigest(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}

// has returns the folder of an archive and reports whether it exists.
func (c *Cache) has(digest string) (string, bool) {
	if !isDigest(digest) {
		return "", false
	}
	dir := filepath.Join(c.dir, digest)
	info, err := os.Lstat(dir)
	return dir, err == nil && info.IsDir()
}

func (c *Cache) fetch(ctx context.Context, q *request, address, pin string) (Unpacked, error) {
	got, err := q.open(ctx)
	if err != nil {
		return Unpacked{}, err
	}
	defer func() { _ = got.Close() }()
	if got.notModified {
		k, _ := c.recall(address)
		k.Checked = c.now()
		dir, _ := c.has(k.SHA256)
		return Unpacked{Dir: dir, SHA256: k.SHA256}, c.remember(address, k)
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return Unpacked{}, err
	}
	f, err := os.CreateTemp(c.dir, ".download-*")
	if err != nil {
		return Unpacked{}, err
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(f, h), io.LimitReader(got, q.opts.MaxDownload+1))
	if err != nil {
		return Unpacked{}, fmt.Errorf("%s %s: %w", q.opts.kind(), shown(q.url), err)
	}
	if size > q.opts.MaxDownload {
		return Unpacked{}, fmt.Errorf("%s %s: %w: it is larger than %d bytes", q.opts.kind(), shown(q.url), ErrRefused, q.opts.MaxDownload)
	}
	digest := hex.EncodeToString(h.Sum(nil))
	if pin != "" && digest != pin {
		return Unpacked{}, fmt.Errorf("%s %s: sha256 is %s, pinned is %s%w", q.opts.kind(), shown(q.url), digest, pin, silent{ErrPin})
	}
	dir, err := c.unpack(ctx, f, size, digest, &q.opts)
	if err != nil {
		return Unpacked{}, fmt.Errorf("%s %s: %w", q.opts.kind(), shown(q.url), err)
	}
	if err := c.remember(address, addressRecord{address, digest, got.etag, got.modified, c.now()}); err != nil {
		return Unpacked{}, err
	}
	c.touch(digest + usedSuffix)
	c.sweep()
	return Unpacked{Dir: dir, SHA256: digest}, nil
}

// silent wraps an error without its text.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// unpack unpacks an archive in a temporary folder and renames it to the archive's folder.
func (c *Cache) unpack(ctx context.Context, f *os.File, size int64, digest string, opts *Options) (_ string, err error) {
	if dir, ok := c.has(digest); ok {
		return dir, nil
	}
	temp := filepath.Join(c.dir, ".unpack-"+rand.Text())
	if err := os.Mkdir(temp, 0o700); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if opts.document {
		err = copyDocument(f, size, filepath.Join(temp, documentFile))
	} else {
		err = UnpackInto(ctx, f, size, temp, opts.Limits)
	}
	if err != nil {
		return "", err
	}
	c.touch(filepath.Base(temp)) // so that no other process takes it for the rest of a crash
	if err := c.makeRoom(sizeOf(temp)); err != nil {
		return "", err
	}
	dir := filepath.Join(c.dir, digest)
	if err := os.Rename(filepath.Join(temp, topOf(os.DirFS(temp))), dir); err != nil {
		if _, ok := c.has(digest); ok { // another process was faster
			return dir, nil
		}
		return "", err
	}
	return dir, nil
}

// UnpackInto unpacks an archive into an empty directory. See unpack for its formats and errors.
func UnpackInto(ctx context.Context, in io.ReaderAt, size int64, dir string, limits Limits) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(unpack(ctx, in, size, root, limits), root.Close())
}

// topOf returns the name of the only entry of dir if that is a folder, else ".".
func topOf(dir fs.FS) string {
	entries, err := fs.ReadDir(dir, ".")
	if err == nil && len(entries) == 1 && entries[0].IsDir() {
		return entries[0].Name()
	}
	return "."
}

// recordFile returns the file with the record of an address.
func (c *Cache) recordFile(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(c.dir, "url-"+hex.EncodeToString(sum[:])+".json")
}

func (c *Cache) recall(address string) (addressRecord, bool) {
	k, ok := readRecord(c.recordFile(address))
	return k, ok && k.URL == address
}

// readRecord reads the record of an address.
func readRecord(file string) (k addressRecord, ok bool) {
	f, err := os.OpenFile(file, os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return addressRecord{}, false
	}
	defer f.Close()
	err = json.NewDecoder(io.LimitReader(f, maxRecord)).Decode(&k)
	return k, err == nil
}

// remember writes the record of an address.
func (c *Cache) remember(address string, k addressRecord) error {
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, ".url-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.recordFile(address))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
