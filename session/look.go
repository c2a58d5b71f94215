package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// errMoved reports that a value was moved or removed while it was being read.
var errMoved = errors.New("value moved during the look at it")

// asMoved returns errMoved if err says that a name has vanished, else err.
func asMoved(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	}
	return err
}

// head is the current version of a value.
type head struct {
	version int64
	entry   *entry // nil if the value was never saved
}

// openValue finds a value. If there is none it returns a nil chain and the zero head.
func (d *Directory) openValue(ctx context.Context, session, agent string) (*chain, head, error) {
	for range maxAttempts {
		if err := ctx.Err(); err != nil {
			return nil, head{}, err
		}
		c, err := d.openChain(session, agent)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, head{}, nil
		}
		if err == nil {
			var h head
			if h, err = d.readHead(c); err == nil {
				return c, h, nil
			}
			c.close()
		}
		if !errors.Is(err, errMoved) {
			return nil, head{}, err
		}
	}
	return nil, head{}, fmt.Errorf("%w: agent directory %s has no generation that stays", ErrDamaged, agent)
}

// readHead returns the current version in a chain.
func (d *Directory) readHead(c *chain) (head, error) {
	versions, err := c.listVersions(c.gen, c.first)
	if err != nil {
		return head{}, err
	}
	h := head{version: versions[len(versions)-1]}
	// The listing may miss versions that were added while it ran.
	for h.version < c.lastVersion() {
		exists, err := durable.Exists(c.gen, versionName(h.version+1))
		if err != nil {
			return head{}, err
		}
		if !exists {
			break
		}
		h.version++
		versions = append(versions, h.version)
	}
	if h.version > 0 {
		h.entry, err = c.readNewest(versions)
	}
	isInPlace, placeErr := d.inPlace(c)
	if placeErr != nil {
		return head{}, placeErr
	}
	if !isInPlace {
		return head{}, errMoved
	}
	if err != nil {
		return head{}, err
	}
	if h.entry != nil && h.entry.value.Version != h.version {
		// The newer versions are damaged, but their numbers are taken. The next
		// save gets a number above them, so no file is overwritten.
		d.log.Warn("session store: newest versions are damaged, an older one is used",
			"session", c.session, "agent", c.agent, "newest", h.version, "used", h.entry.value.Version)
		h.entry.value.Version = h.version
	}
	return h, nil
}

// listVersions returns the version numbers in a generation in ascending order.
// There is always at least one.
func (c *chain) listVersions(gen *os.Root, first int64) ([]int64, error) {
	names, err := listNames(gen, ".")
	if err != nil {
		return nil, asMoved(err)
	}
	var versions []int64
	for _, name := range names {
		digits, ok := strings.CutSuffix(name, versionSuffix)
		v, isNumber := durable.ParseVersion(digits)
		if ok && isNumber && v >= first && v <= first+versionsPerGeneration {
			versions = append(versions, v)
		}
	}
	if len(versions) == 0 {
		return nil, errMoved
	}
	slices.Sort(versions)
	return versions, nil
}

// readNewest returns the content of the highest undamaged version. It searches the newest
// generation and then the older ones.
func (c *chain) readNewest(versions []int64) (*entry, error) {
	found, err := c.readNewestIn(c.gen, versions)
	for _, first := range slices.Backward(c.older) {
		if !errors.Is(err, ErrDamaged) {
			break
		}
		gen, _, openErr := openDir(c.dir, genName(first))
		if openErr != nil {
			return nil, asMoved(openErr)
		}
		if versions, openErr = c.listVersions(gen, first); openErr == nil {
			found, err = c.readNewestIn(gen, versions)
		}
		if closeErr := gen.Close(); openErr != nil || closeErr != nil {
			return nil, errors.Join(openErr, closeErr)
		}
	}
	return found, err
}

// readNewestIn returns the content of the highest undamaged version in one generation.
func (c *chain) readNewestIn(gen *os.Root, versions []int64) (found *entry, err error) {
	err = fmt.Errorf("%w: no version", ErrDamaged)
	for _, v := range slices.Backward(versions) {
		if v == 0 { // the first file of a chain has no content
			break
		}
		found, err = c.read(gen, v)
		if !errors.Is(err, ErrDamaged) {
			return found, asMoved(err)
		}
	}
	return nil, fmt.Errorf("read versions %v in agent directory %s: %w", versions, c.agent, err)
}
