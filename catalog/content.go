package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

// Content is a text for the model.
type Content struct {
	Text   string // valid UTF-8, lines end with LF
	Digest string // hexadecimal SHA-256 of Text
}

func newContent(text string) Content {
	sum := sha256.Sum256([]byte(text))
	return Content{Text: text, Digest: hex.EncodeToString(sum[:])}
}

// Body returns a skill and the current body of its SKILL.md, without front matter. It reads the
// file again only if its size, modification time or identity has changed.
//
// The skill is that of the current snapshot even if its front matter has been edited since; only
// Refresh updates it. AllowedTools, Repaired and the fields about arguments are the exception: they
// are read together with the body, because the author wrote them for this text. A skill that is
// fetched on demand has all fields of the SKILL.md that was fetched, but for its name and description.
//
// Errors are [ErrUnknownSkill], fs.ErrNotExist, [ErrPath], and those of sources
// ([source.ErrGone], [source.ErrDigest]). A file that is too large or no regular file is an
// error too. If an edit has left no usable skill in the file, the error is that of skillmd.
func (c *Catalog) Body(ctx context.Context, name string) (core.Skill, Content, error) {
	var skill core.Skill
	var content Content
	err := c.withPlace(ctx, name, func(st *state, p place, found core.Skill) error {
		read, err := c.text(p, p.file, func(data []byte) (string, core.Skill, error) {
			doc, _, err := skillmd.Parse(data, scan.ParseOptions(c.cfg.scan.Mode, scan.DirNameOf(p.dir, p.dirName), found.Place)...)
			scan.AddArguments(&doc.Skill, &doc)
			return withOrigin(found, doc.Body), doc.Skill, err
		})
		if err != nil {
			return fileError(found.Name, path.Base(p.file), err)
		}
		skill, content = found, read.content
		skill.Arguments, skill.ArgumentHint, skill.TakesArguments = read.skill.Arguments, read.skill.ArgumentHint, read.skill.TakesArguments
		skill.AllowedTools, skill.Repaired = slices.Clone(read.skill.AllowedTools), read.skill.Repaired || found.Unreviewed
		skill.DisallowedTools = slices.Clone(read.skill.DisallowedTools)
		return nil
	})
	if err != nil {
		return core.Skill{}, Content{}, err
	}
	return skill, content, nil
}

// Doc returns a doc of a skill by a name that [Catalog.Docs] lists; a leading "./"
// is ignored. Invalid UTF-8 is replaced by U+FFFD, a byte order mark is dropped,
// and CRLF becomes LF. Like bodies, docs are read again when they change.
//
// Errors are [ErrUnknownSkill], [ErrUnknownDoc], [ErrPath] for a name that leaves
// the skill, one that is too large, and those of sources ([source.ErrGone], [source.ErrDigest]).
func (c *Catalog) Doc(ctx context.Context, name, doc string) (Content, error) {
	return c.doc(ctx, name, doc, c.hasDoc)
}

// DocOf is like [Catalog.Doc], for a caller that reads several docs. docs is the result of
// [Catalog.Docs], so that DocOf need not list them again.
func (c *Catalog) DocOf(ctx context.Context, name string, docs []string, doc string) (Content, error) {
	return c.doc(ctx, name, doc, func(_ context.Context, st *state, p place, doc string) (bool, error) {
		full, isInside := st.treePath(p, doc)
		_, found := slices.BinarySearch(docs, doc)
		return found && isInside && c.isDoc(path.Base(doc)) && !c.leadsToHidden(st, p, full), nil
	})
}

// doc reads a doc of a skill if has returns true for it.
func (c *Catalog) doc(ctx context.Context, name, doc string, has func(context.Context, *state, place, string) (bool, error)) (Content, error) {
	var content Content
	err := c.withPlace(ctx, name, func(st *state, p place, skill core.Skill) error {
		clean := path.Clean(doc)
		if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
			return fileError(skill.Name, doc, ErrPath)
		}
		known, err := has(ctx, st, p, clean)
		if err != nil {
			return err
		}
		if known {
			var read cachedText
			read, err = c.text(p, scan.Below(p.dir, clean), func(data []byte) (string, core.Skill, error) {
				return withOrigin(skill, plainText(data)), core.Skill{}, nil
			})
			content = read.content
		}
		switch {
		case !known, errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("catalog: skill %q: %w %q", skill.Name, ErrUnknownDoc, doc)
		case err != nil:
			return fileError(skill.Name, doc, err)
		}
		return nil
	})
	if err != nil {
		return Content{}, err
	}
	return content, nil
}

// plainText turns the bytes of a doc into text.
func plainText(data []byte) string {
	text := strings.TrimPrefix(string(data), "\uFEFF")
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
}

// withOrigin puts a line with the origin before the text of a skill from a remote server.
func withOrigin(skill core.Skill, text string) string {
	if skill.Origin == "" {
		return text
	}
	return "[from " + skill.Origin + "]\n\n" + text
}

// text reads a file and converts it to text. The text comes from the cache while the file has
// not changed, so convert must do the same for each call with one file.
func (c *Catalog) text(p place, file string, convert func([]byte) (string, core.Skill, error)) (cachedText, error) {
	t, key, now := p.tree, p.textKey(file), time.Now()
	info, err := t.Stat(file)
	if err != nil {
		return cachedText{}, scan.Cause(err)
	}
	if read, ok := c.texts.get(key, info); ok {
		return read, nil
	}
	if err := scan.CheckRegular(info, c.cfg.scan.MaxFileBytes); err != nil {
		return cachedText{}, err
	}
	f, info, err := scan.OpenChecked(t, file, c.cfg.scan.MaxFileBytes)
	if err != nil {
		return cachedText{}, scan.Cause(err)
	}
	defer f.Close()
	data, err := scan.ReadAll(f, info.Size(), c.cfg.scan.MaxFileBytes)
	if err != nil {
		return cachedText{}, scan.Cause(err)
	}
	text, skill, err := convert(data)
	if err != nil {
		return cachedText{}, err
	}
	read := cachedText{stamp: scan.NewStamp(info, now), content: newContent(text), skill: skill}
	if p.entry != nil {
		read.stamp.Settled = true // the key names the revision
	}
	c.texts.put(key, read)
	return read, nil
}

// textCache keeps the texts of files that were read. The zero textCache is ready to
// use.
type textCache struct {
	mu    sync.Mutex
	texts map[textKey]cachedText
	bytes int
}

type textKey struct {
	area         int
	id, revision string // of a skill of a source
	file         string
}

func (p place) textKey(file string) textKey {
	key := textKey{area: p.area, file: file}
	if p.entry != nil {
		key.id, key.revision = p.entry.ID, p.entry.Revision
	}
	return key
}

type cachedText struct {
	stamp   scan.Stamp
	content Content
	// skill is the front matter of a SKILL.md, read with the text.
	skill core.Skill
}

// get returns the text of a file if info describes the file as it was when it was
// read.
func (c *textCache) get(key textKey, info fs.FileInfo) (cachedText, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, ok := c.texts[key]
	return text, ok && text.stamp.Holds(info)
}

func (c *textCache) put(key textKey, text cachedText) {
	if !text.stamp.Settled {
		return // get would never return it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += len(text.content.Text) - len(c.texts[key].content.Text)
	if c.texts == nil || c.bytes > maxCachedBytes {
		c.texts = make(map[textKey]cachedText)
		c.bytes = len(text.content.Text)
	}
	c.texts[key] = text
}

// AtRevisions returns the catalog with some skills at other revisions than the current ones.
// revisions maps their canonical ids to revisions. Bodies, docs and files of such a skill are
// read at that revision; names and snapshots are those of c. Skills whose source is no
// [source.RevisionSource] are read as usual.
func (c *Catalog) AtRevisions(revisions map[string]string) *Catalog {
	if len(revisions) == 0 {
		return c
	}
	return &Catalog{catalogData: c.catalogData, audience: c.audience, revisions: revisions, idByName: c.idByName, hides: c.hides}
}

// WithNames returns the catalog with other meanings for some names. ids maps each such name to
// the canonical id of the skill that it means. If there is no such skill any more, the name
// means what it means in c.
func (c *Catalog) WithNames(ids map[string]string) *Catalog {
	if len(ids) == 0 {
		return c
	}
	all := maps.Clone(c.idByName)
	if all == nil {
		all = make(map[string]string, len(ids))
	}
	maps.Copy(all, ids)
	return &Catalog{catalogData: c.catalogData, audience: c.audience, revisions: c.revisions, idByName: all, hides: c.hides}
}

// FrontMatter returns a skill as its front matter describes it, at the revision of
// [Catalog.AtRevisions] if there is one. It fetches the files of a skill that has core.Skill.OnDemand,
// unless they are cached. Then the name and the description alone are those of the listing.
func (c *Catalog) FrontMatter(ctx context.Context, name string) (core.Skill, error) {
	var front core.Skill
	err := c.withPlace(ctx, name, func(_ *state, _ place, skill core.Skill) error {
		front = skill
		return nil
	})
	return front, err
}

// moveToRevision changes the place and the skill to the revision of AtRevisions, if there is one.
func (c *Catalog) moveToRevision(ctx context.Context, p *place, skill *core.Skill) error {
	revision, set := c.revisions[skill.ID]
	if !set || p.entry == nil || revision == p.entry.Revision {
		return nil
	}
	revisions, ok := c.roots[p.root].Source().(source.RevisionSource)
	if !ok {
		return nil
	}
	e, err := revisions.Entry(ctx, p.entry.ID, revision)
	if err != nil {
		return err
	}
	e.ID = p.entry.ID
	if fault := e.Fault(); fault != "" {
		return fmt.Errorf("its source keeps a revision of it that is not usable: %s", fault)
	}
	read, _ := c.parseEntry(ctx, p.root, &e)
	if !read.Usable {
		return fmt.Errorf("its front matter at revision %q cannot be read", scan.Printable(revision))
	}
	then := withFields(*skill, read.Skill, &e)
	*skill, p.entry, p.file = then, &e, e.SkillFile()
	return nil
}

// withFields returns a skill with the fields that the front matter of fields has, at the revision of e.
func withFields(skill, fields core.Skill, e *source.Entry) core.Skill {
	fields.Name, fields.ID, fields.Qualified, fields.Shadowed = skill.Name, skill.ID, skill.Qualified, skill.Shadowed
	fields.Scope, fields.Source, fields.Origin = skill.Scope, skill.Source, skill.Origin
	fields.Editable, fields.OnDemand, fields.Revision = skill.Editable, skill.OnDemand, e.Revision
	fields.AllowedTools = slices.Clone(fields.AllowedTools)
	if e.Unreviewed {
		markUnreviewed(&fields)
	}
	return fields
}
