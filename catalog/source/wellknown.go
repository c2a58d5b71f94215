package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/archive"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// indexPath is where a host has its index of skills.
const indexPath = "/.well-known/agent-skills/index.json"

// codeNotUsed is the code of entries that are not valid.
const codeNotUsed skillmd.Code = "not-used"

// The types of entries.
const (
	typeFile    = "skill-md"
	typeArchive = "archive"
)

// WellKnown returns a root for the skills that a host publishes in
// /.well-known/agent-skills/index.json (Agent Skills Discovery 0.2.0). address is that of the host,
// such as https://example.com. Only the first of opts counts; its SHA256 is ignored.
//
// Names and descriptions come from the index. The files of a skill are fetched when they are first
// read, if they are of the same origin and have the digest that the index gives. The other fields of
// a SKILL.md are known from then on to calls that read the skill, and to catalogs that are opened
// later while the files are cached.
//
// A refresh of the catalog asks for a newer index at most once in 5 minutes. An index that cannot be
// fetched is a diagnostic and no error of catalog.Open; an earlier copy is used then. An entry that
// is not valid is a diagnostic too. The bounds of [ArchiveOptions] hold for each skill; an index has
// at most 4 MiB and 10,000 entries.
//
// The name of the root is the host of the address.
func WellKnown(address string, opts ...ArchiveOptions) Root {
	w := &wellKnown{address: address, checked: make(map[string]string)}
	if len(opts) > 0 {
		w.opts = opts[0]
	}
	name := address
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		name = u.Host
	}
	return Root{name: name, source: w}
}

// wellKnown is a [Source] of the skills in the index of a host.
type wellKnown struct {
	address string
	opts    ArchiveOptions

	mu     sync.Mutex
	skills map[string]indexedSkill // of the last Scan, by name
	// checked has the revisions whose files were compared with the index, by name.
	checked map[string]string
}

// indexedSkill is a valid entry of an index.
type indexedSkill struct {
	entry  Entry
	url    string
	sha256 string
}

// indexEntry is an entry as the index has it.
type indexEntry struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Digest      string `json:"digest"`
}

// indexURL returns the address of the index.
func (w *wellKnown) indexURL() (*url.URL, error) {
	u, err := url.Parse(w.address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("index of skills: %w: %s cannot be parsed", archive.ErrURL, archive.Shown(w.address))
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("index of skills: %w: %s is not the address of a host, such as https://example.com", archive.ErrURL, archive.Shown(w.address))
	case u.User != nil:
		return nil, fmt.Errorf("index of skills: %w: %s has user info", archive.ErrURL, archive.Shown(w.address))
	}
	u.Path, u.RawPath = indexPath, ""
	return u, nil
}

// Scan implements [Source]. It reads the index and no file of a skill.
func (w *wellKnown) Scan(ctx context.Context, prev *Listing) (*Listing, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	at, err := w.indexURL()
	if err != nil {
		return nil, err
	}
	cache, err := w.opts.cache()
	if err != nil {
		return nil, err
	}
	opts := w.opts.fetching()
	opts.SHA256, opts.MaxDownload, opts.SameOrigin = "", maxIndex, true
	data, stale, err := cache.Document(ctx, at.String(), opts)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	l := &indexReader{index: at, skills: make(map[string]indexedSkill), listing: &Listing{}}
	if stale != nil {
		l.note(at.Host, scan.CodeStale, "the index that was fetched last is used: "+stale.Error())
	}
	if err := l.read(data); err != nil {
		return nil, fmt.Errorf("index %s: %w", at, err)
	}
	w.mu.Lock()
	w.skills = l.skills
	w.mu.Unlock()
	if prev != nil && slices.Equal(prev.Diagnostics, l.listing.Diagnostics) && slices.EqualFunc(prev.Entries, l.listing.Entries, func(a, b Entry) bool {
		return a.ID == b.ID && a.Revision == b.Revision
	}) {
		return prev, nil
	}
	return l.listing, nil
}

// indexReader makes a listing of an index.
type indexReader struct {
	index   *url.URL
	skills  map[string]indexedSkill
	listing *Listing
}

func (l *indexReader) note(file string, code skillmd.Code, message string) {
	l.listing.Diagnostics = append(l.listing.Diagnostics, skillmd.Diagnostic{
		File: file, Code: code, Severity: skillmd.Warning, Message: scan.Printable(fmt.Sprintf("%.1000s", message)),
	})
}

// read reads the index. Entries that are not valid become diagnostics.
func (l *indexReader) read(data []byte) error {
	var index struct {
		Schema string          `json:"$schema"`
		Skills json.RawMessage `json:"skills"`
	}
	if json.Unmarshal(data, &index) != nil {
		return errors.New("it is no object with a list of skills")
	}
	if index.Schema != "" && !strings.Contains(index.Schema, "/0.2.") {
		return fmt.Errorf("its schema is %.200q; want discovery 0.2.0", index.Schema)
	}
	entries, err := plainjson.Elements(index.Skills, maxIndexEntries+1)
	more := errors.Is(err, plainjson.ErrSize) || len(entries) > maxIndexEntries
	if err != nil && !more {
		return errors.New("it has no list of skills")
	}
	if more {
		return fmt.Errorf("it has more than %d entries", maxIndexEntries)
	}
	for i, text := range entries {
		var e indexEntry
		if err := json.Unmarshal(text, &e); err != nil {
			l.note(fmt.Sprintf("%s entry %d", l.index.Host, i+1), codeNotUsed, "not used: it is no object with text in name, type, description, url and digest")
			continue
		}
		if why := l.add(e); why != "" {
			l.note(fmt.Sprintf("%s entry %d %.80q", l.index.Host, i+1, e.Name), codeNotUsed, "not used: "+why)
		}
	}
	slices.SortFunc(l.listing.Entries, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	return nil
}

// add adds an entry, or says why it is not valid.
func (l *indexReader) add(e indexEntry) (why string) {
	at, err := l.index.Parse(e.URL)
	sum, isSum := strings.CutPrefix(e.Digest, "sha256:")
	raw, hexErr := hex.DecodeString(sum)
	switch {
	case len(skilltext.NameProblems(e.Name)) > 0:
		return "its name is no name of a skill"
	case e.Type != typeFile && e.Type != typeArchive:
		return fmt.Sprintf("its type is %.40q, not %s or %s", e.Type, typeFile, typeArchive)
	case strings.TrimSpace(e.Description) == "" || !utf8.ValidString(e.Description):
		return "it has no description"
	case len(e.Description) > maxIndexDescription:
		return fmt.Sprintf("its description has more than %d bytes", maxIndexDescription)
	case e.URL == "" || err != nil || len(e.URL) > maxIndexURL:
		return "its url is no address"
	case at.User != nil:
		return "its url has user info"
	case archive.Origin(at) != archive.Origin(l.index):
		return "its url is of another origin, " + archive.Origin(at)
	case !isSum || hexErr != nil || len(raw) != sha256.Size || strings.ToLower(sum) != sum:
		return "its digest is not sha256: and 64 hex digits"
	}
	if _, twice := l.skills[e.Name]; twice {
		return "the index has an earlier skill of that name"
	}
	at.Fragment = ""
	head := (&skillmd.Document{Skill: core.Skill{Name: e.Name, Description: e.Description}, UserInvocable: true}).Render()
	k := indexedSkill{url: at.String(), sha256: sum, entry: Entry{ID: e.Name, Head: head, OnDemand: true}}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %s", e.Type, head, sum)
	k.entry.Revision = hex.EncodeToString(h.Sum(nil)[:16])
	if fault := k.entry.Fault(); fault != "" {
		return fault
	}
	l.skills[e.Name] = k
	l.listing.Entries = append(l.listing.Entries, k.entry)
	return ""
}

// Open implements [Source]. It fetches the files unless they are cached.
func (w *wellKnown) Open(ctx context.Context, id, revision string) (fs.FS, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	k, cache, err := w.locate(id, revision)
	if err != nil {
		return nil, err
	}
	opts := w.opts.fetching()
	opts.SHA256, opts.SameOrigin = k.sha256, true
	got, err := cache.Get(ctx, k.url, opts)
	if errors.Is(err, archive.ErrPin) { // the host has another version, or an index that is wrong
		return nil, fmt.Errorf("source: open %q: %w: %w", id, ErrGone, err)
	}
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	return w.checkedFiles(k, got.Dir)
}

// OpenCached is Open for files that are cached. It sends no request, and the cache does not count it
// as a use.
func (w *wellKnown) OpenCached(id, revision string) (fs.FS, error) {
	k, cache, err := w.locate(id, revision)
	if err != nil {
		return nil, err
	}
	dir, ok := cache.Cached(k.sha256)
	if !ok {
		return nil, fmt.Errorf("source: open %q: %w", id, fs.ErrNotExist)
	}
	return w.checkedFiles(k, dir)
}

// locate returns a skill that the last Scan has listed at a revision, and the cache of its files.
func (w *wellKnown) locate(id, revision string) (*indexedSkill, *archive.Cache, error) {
	k, err := w.skill(id, revision)
	if err != nil {
		return nil, nil, err
	}
	cache, err := w.opts.cache()
	return k, cache, err
}

// skill returns the skill that the last Scan has listed at a revision.
func (w *wellKnown) skill(id, revision string) (*indexedSkill, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k, known := w.skills[id]
	if !known || k.entry.Revision != revision {
		return nil, fmt.Errorf("source: open %q: %w", id, ErrGone)
	}
	return &k, nil
}

// checkedFiles returns the files of a skill, which are in dir, after they were compared with the index.
func (w *wellKnown) checkedFiles(k *indexedSkill, dir string) (fs.FS, error) {
	files := unpackedFS(dir)
	w.mu.Lock()
	isChecked := w.checked[k.entry.ID] == k.entry.Revision
	w.mu.Unlock()
	if isChecked {
		return files, nil
	}
	if err := k.check(files); err != nil {
		return nil, fmt.Errorf("%s: %w", archive.Shown(k.url), err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checked[k.entry.ID] = k.entry.Revision
	return files, nil
}

// check returns an error if the files are not those of the skill that the index has described.
func (k *indexedSkill) check(files fs.FS) error {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() == scan.SkillFile && e.Type().IsRegular() })
	if i < 0 {
		return fmt.Errorf("%w: it has no %s at its top", archive.ErrRefused, scan.SkillFile)
	}
	f, err := files.Open(scan.SkillFile)
	if err != nil {
		return err
	}
	defer f.Close()
	head, err := scan.ReadHead(f, maxSkillFile)
	if err != nil {
		return err
	}
	doc, _, err := skillmd.Parse(head, skillmd.WithDirName(k.entry.ID))
	if err == nil && skilltext.CleanName(doc.Skill.Name) != skilltext.CleanName(k.entry.ID) {
		err = fmt.Errorf("%w: its name is %.80q, and the index calls it %q", archive.ErrRefused, doc.Skill.Name, k.entry.ID)
	}
	return err
}
