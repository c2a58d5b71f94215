package session

// How a save becomes visible to all, or fails, without a lock:
//
//   - The versions of a value are files in generations. A generation is a directory for
//     versionsPerGeneration saves, named by the version that it begins with. A writer writes a
//     version under a temporary name, syncs it, and gives it its number by a hard link. The
//     link fails if the number is taken. So a visible version is complete, and of two saves
//     from the same version one fails.
//   - No file is ever removed from a generation in its place, so no number is used twice. A
//     generation is removed as a whole, by a rename and then file by file. That happens only
//     when it is full, has a successor, and has no temporary file. A writer keeps its
//     temporary file until it has checked that the generation of its link is still in its
//     place. If it is, the save counts. If not, the link was too late, or the session has
//     ended.
//   - A reader that finds version n but no n+1, and then finds the generation still in its
//     place, has seen the current version.
//   - The first generation appears together with the directory of the agent, each later one by
//     the rename of a prepared directory. A temporary file in the generation before protects
//     that rename in the same way.
//   - Readers and writers work in directories that they have open. When the session ends,
//     these are renamed away with everything in them. Later writes land in a directory that is
//     about to be removed.
//
// If the file system has no hard links, a version is a directory with the file in it. It gets
// its number by a rename, which fails on a directory that is not empty. Readers accept both
// forms.
//
// All this holds unless a writer is stopped for longer than leftoverAge between two steps. Such
// a writer may get a conflict although its save counted; nothing worse can happen.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/files/durable"
)

const (
	tempPrefix    = "tmp." // not in place yet
	oldPrefix     = "old." // no longer in place
	versionSuffix = ".value"
	innerName     = "value"
)

// chain is the open directory of one agent with its newest generation. A nil *chain stands for
// an agent without a directory.
type chain struct {
	session, agent string // the names of their directories

	dir       *os.Root
	older     []int64  // generations older than the newest, ascending
	leftovers []string // names in dir that a crash may have left

	gen   *os.Root
	info  fs.FileInfo // of gen, unique while it is open
	first int64       // the version that gen starts from
}

func (c *chain) close() {
	if c != nil {
		c.dir.Close()
		c.gen.Close()
	}
}

// lastVersion returns the highest version that fits into the newest generation.
func (c *chain) lastVersion() int64 { return c.first + versionsPerGeneration }

func genName(first int64) string { return durable.VersionName(first) }

func versionName(v int64) string { return durable.VersionName(v) + versionSuffix }

// openChain opens the directory of an agent and its newest generation. The error is
// fs.ErrNotExist if there is no such directory.
func (d *Directory) openChain(session, agent string) (*chain, error) {
	dir, _, err := openDir(d.root, session+"/"+agent)
	if err != nil {
		return nil, err
	}
	c := &chain{session: session, agent: agent, dir: dir}
	if err = c.listGenerations(); err == nil {
		c.gen, c.info, err = openDir(dir, genName(c.first))
	}
	if err != nil {
		return nil, errors.Join(asMoved(err), dir.Close())
	}
	return c, nil
}

// listGenerations finds the generations and leftovers in dir. It relies on the file system to
// list the few names at one time.
func (c *chain) listGenerations() error {
	names, err := listNames(c.dir, ".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if first, ok := durable.ParseVersion(name); ok && first%versionsPerGeneration == 0 {
			c.older = append(c.older, first)
		} else if strings.HasPrefix(name, tempPrefix) || strings.HasPrefix(name, oldPrefix) {
			c.leftovers = append(c.leftovers, name)
		}
	}
	if len(c.older) == 0 {
		return errMoved
	}
	slices.Sort(c.older)
	c.first = c.older[len(c.older)-1]
	c.older = c.older[:len(c.older)-1]
	return nil
}

// inPlace reports whether the newest generation is still in its place.
func (d *Directory) inPlace(c *chain) (bool, error) {
	return durable.InPlace(d.root, c.session+"/"+c.agent+"/"+genName(c.first), c.info)
}

// read returns the content of a version in a generation. The error is ErrDamaged if the content
// cannot be trusted, so that the caller may use an older version. Any other error means that
// the content may be intact, and the caller must not ignore it.
func (c *chain) read(gen *os.Root, v int64) (*entry, error) {
	name := versionName(v)
	info, err := gen.Lstat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		name += "/" + innerName
	}
	data, err := readFile(gen, name)
	if err != nil {
		return nil, fmt.Errorf("version %d: %w", v, err)
	}
	found, err := decodeFile(data)
	if err == nil && (found.value.Version != v || durable.Name(found.key.Session) != c.session || durable.Name(found.key.Agent) != c.agent) {
		err = errors.New("belongs to another key or version")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: version %d: %w", ErrDamaged, v, err)
	}
	return &found, nil
}
