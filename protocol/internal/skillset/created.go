package skillset

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// Errors of Create beside *ManifestError and *PathError.
var (
	// ErrExists means that the version exists with other files.
	ErrExists = errors.New("exists")
	// ErrFull means that the tenant may not create more.
	ErrFull = errors.New("no room for created skills")
	// ErrNoCreate means that the set has no directory for created skills.
	ErrNoCreate = errors.New("skills cannot be created here")
)

// created holds the skills that tenants have created, in base/<tenant>/<id>/<version>.
type created struct {
	root *os.Root

	mu      sync.RWMutex
	tenants map[string]byID
	bytes   map[string]int64 // of all files, by tenant
	writing sync.Map         // tenant to *sync.Mutex, held while a skill of the tenant is written

	refreshing sync.Mutex         // held by refresh, for the fields below
	places     map[string]*Skill  // by directory
	folders    map[string]*folder // of tenants and ids
}

// folder is the last listing of a directory.
type folder struct {
	modified, readAt time.Time
	names            []string
}

// stagingPrefix begins the names of directories that are being written.
const stagingPrefix = ".new-"

// tenantDir returns the directory of a tenant: its name in hex, because it may have any bytes.
func tenantDir(tenant string) string { return "t" + hex.EncodeToString([]byte(tenant)) }

// openCreated opens the created skills below base and reads them.
func openCreated(ctx context.Context, base string) (*created, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	c := &created{root: root, tenants: make(map[string]byID), bytes: make(map[string]int64), folders: make(map[string]*folder)}
	if err := c.tidy(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	c.refresh(ctx)
	return c, nil
}

// tidy removes staging directories that a crash has left.
func (c *created) tidy() error {
	dirs, err := fs.Glob(c.root.FS(), "t*/"+stagingPrefix+"*")
	for _, dir := range dirs {
		if info, failed := c.root.Stat(dir); failed == nil && time.Since(info.ModTime()) > stagingAge {
			err = errors.Join(err, c.root.RemoveAll(dir))
		}
	}
	return err
}

// names returns the names of the folders in a directory. It reads the directory only if it has
// changed.
func (c *created) names(dir string) []string {
	info, err := c.root.Stat(dir)
	if err != nil {
		return nil
	}
	last := c.folders[dir]
	if last != nil && last.modified.Equal(info.ModTime()) && last.readAt.Sub(last.modified) > coarseTime {
		return last.names
	}
	last = &folder{modified: info.ModTime(), readAt: time.Now()}
	entries, err := fs.ReadDir(c.root.FS(), dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			last.names = append(last.names, e.Name())
		}
	}
	c.folders[dir] = last
	return last.names
}

// refresh adds skills that other servers have created, and drops those that were removed.
func (c *created) refresh(ctx context.Context) {
	c.refreshing.Lock()
	defer c.refreshing.Unlock()
	tenants, places, changed := make(map[string]string), make(map[string]*Skill), c.places == nil
	for _, dir := range c.names(".") {
		tenant, err := hex.DecodeString(strings.TrimPrefix(dir, "t"))
		if err != nil || !strings.HasPrefix(dir, "t") {
			continue
		}
		for _, id := range c.names(dir) {
			for _, version := range c.names(dir + "/" + id) {
				place := dir + "/" + id + "/" + version
				skill := c.places[place]
				if skill == nil {
					if ctx.Err() != nil {
						return
					}
					skill, _ = c.read(ctx, place) // the next refresh tries again if that fails
					changed = changed || skill != nil
				}
				if skill != nil {
					places[place], tenants[place] = skill, string(tenant)
				}
			}
		}
	}
	if !changed && len(places) == len(c.places) {
		return
	}
	c.places = places
	c.setSkills(tenants)
}

// setSkills groups the skills in c.places by their tenants. tenants has the tenant of each place.
func (c *created) setSkills(tenants map[string]string) {
	next, bytes := make(map[string]byID), make(map[string]int64)
	for _, place := range slices.Sorted(maps.Keys(c.places)) {
		tenant := tenants[place]
		if next[tenant] == nil {
			next[tenant] = byID{}
		}
		if next[tenant].add(c.places[place]) {
			for _, f := range c.places[place].Files {
				bytes[tenant] += f.Size
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tenants, c.bytes = next, bytes
}

// read returns the created skill in a directory. It reads all files for their digests.
func (c *created) read(ctx context.Context, dir string) (*Skill, error) {
	e := source.Entry{ID: dir}
	from := rootSource{c.root}
	if _, err := c.root.Stat(dir + "/" + manifestFile); err != nil {
		return nil, err
	}
	files, err := from.Open(ctx, dir, "")
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		sum := sha256.Sum256(text)
		e.Files = append(e.Files, source.File{Path: name, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])})
		if name == skillFile {
			e.Head = text[:min(max(skilltext.FrontMatterEnd(text), 0), maxHead)]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(e.Files, func(a, b source.File) int { return strings.Compare(a.Path, b.Path) })
	skill, findings := newSkill(ctx, from, e, true)
	if skill == nil {
		return nil, fmt.Errorf("%s", findings[0].Message)
	}
	return skill, nil
}

// rootSource opens created skills, which never change. The id of an entry is its directory.
type rootSource struct{ root *os.Root }

// Scan implements catalog.Source. It lists nothing: refresh finds the skills.
func (r rootSource) Scan(context.Context, *source.Listing) (*source.Listing, error) {
	return &source.Listing{}, nil
}

// Open implements catalog.Source.
func (r rootSource) Open(_ context.Context, id, _ string) (fs.FS, error) {
	return fs.Sub(r.root.FS(), id)
}

// all returns the skills of a tenant. Callers must not modify the map; refresh replaces it.
func (c *created) all(tenant string) byID {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.tenants[tenant]
}

func (c *created) versions(tenant, id string) []*Skill { return c.all(tenant)[id] }

// Create stores a new version of a skill for one tenant. After a crash all of it exists or
// nothing. If the version exists with the same files, Create returns it. The error is a
// *ManifestError, a *PathError, or wraps ErrExists, ErrFull or ErrNoCreate.
func (s *Set) Create(ctx context.Context, tenant string, d Draft) (*Skill, error) {
	if s.created == nil {
		return nil, ErrNoCreate
	}
	m, files, err := d.files()
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	isServed := len(s.skills[m.Name]) > 0
	s.mu.RUnlock()
	if isServed {
		return nil, fault("name", "%q belongs to the server", m.Name)
	}
	return s.created.create(ctx, tenant, m, files)
}

// lock keeps other calls from creating a skill of the tenant until unlock is called.
func (c *created) lock(tenant string) (unlock func()) {
	held, _ := c.writing.LoadOrStore(tenant, new(sync.Mutex))
	mu := held.(*sync.Mutex) //nolint:forcetypeassert // nothing else is stored
	mu.Lock()
	return mu.Unlock
}

// create is Create for files that have been checked.
func (c *created) create(ctx context.Context, tenant string, m Manifest, files map[string][]byte) (*Skill, error) {
	defer c.lock(tenant)()
	c.refresh(ctx) // another server may have created the version
	if old := c.version(tenant, m); old != nil {
		return sameAs(old, files)
	}
	if err := c.checkRoom(tenant, files); err != nil {
		return nil, err
	}
	place := path.Join(tenantDir(tenant), m.Name, m.Version)
	err := c.write(tenant, place, files)
	if errors.Is(err, fs.ErrExist) {
		c.refresh(ctx)
		if old := c.version(tenant, m); old != nil {
			return sameAs(old, files)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("created skills: %w", err)
	}
	ctx = context.WithoutCancel(ctx) // the skill exists now
	if _, err := c.read(ctx, place); err != nil {
		return nil, errors.Join(fault("", "%v", err), c.root.RemoveAll(place))
	}
	c.refresh(ctx)
	skill := c.version(tenant, m)
	if skill == nil {
		return nil, fmt.Errorf("created skills: skill %q %s was removed when it was made", m.Name, m.Version)
	}
	return skill, nil
}

// checkRoom returns ErrFull if the tenant may not create a version with these files.
func (c *created) checkRoom(tenant string, files map[string][]byte) error {
	size, count := int64(0), 0
	for _, text := range files {
		size += int64(len(text))
	}
	for _, all := range c.all(tenant) {
		count += len(all)
	}
	c.mu.RLock()
	size += c.bytes[tenant]
	c.mu.RUnlock()
	if count >= maxVersions || size > maxTenantCreated {
		return fmt.Errorf("%w: at most %d versions and %d bytes", ErrFull, maxVersions, maxTenantCreated)
	}
	return nil
}

// version returns the version of a skill that m names, or nil.
func (c *created) version(tenant string, m Manifest) *Skill {
	for _, k := range c.versions(tenant, m.Name) {
		if k.Version == m.Version {
			return k
		}
	}
	return nil
}

// sameAs returns the skill if it has these files, and otherwise ErrExists.
func sameAs(old *Skill, files map[string][]byte) (*Skill, error) {
	same := len(old.Files) == len(files)
	for _, f := range old.Files {
		sum := sha256.Sum256(files[f.Path])
		same = same && hex.EncodeToString(sum[:]) == f.SHA256
	}
	if !same {
		return nil, fmt.Errorf("skill %q %s %w: raise version", old.ID(), old.Version, ErrExists)
	}
	return old, nil
}

// write writes the files into a staging directory, syncs them and renames the directory to place.
func (c *created) write(tenant, place string, files map[string][]byte) (err error) {
	staging := path.Join(tenantDir(tenant), stagingPrefix+rand.Text())
	defer func() {
		if err != nil {
			_ = c.root.RemoveAll(staging)
		}
	}()
	for name, text := range files {
		name = path.Join(staging, name)
		if err := c.root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		f, err := c.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(text)
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	if err := c.root.MkdirAll(path.Dir(place), 0o700); err != nil {
		return err
	}
	if err := c.root.Rename(staging, place); err != nil {
		return err
	}
	if dir, err := c.root.Open(path.Dir(place)); err == nil {
		_ = dir.Sync() // some file systems cannot sync directories
		_ = dir.Close()
	}
	return nil
}
