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

// moved turns the error of a name that has vanished into errMoved.
func moved(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	}
	return err
}

// head is the current version of a value.
type head struct {
	version int64
	saved   *saved // nil when it was never saved
}

// open finds a value. If there is none it returns a nil chain and the zero head.
func (d *Directory) open(ctx context.Context, session, agent string) (*chain, head, error) {
	for range maxLooks {
		if err := ctx.Err(); err != nil {
			return nil, head{}, err
		}
		c, err := d.openChain(session, agent)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, head{}, nil
		}
		if err == nil {
			var h head
			if h, err = d.look(c); err == nil {
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

// look finds the current version in a chain.
func (d *Directory) look(c *chain) (head, error) {
	versions, err := c.listVersions(c.gen, c.first)
	if err != nil {
		return head{}, err
	}
	h := head{version: versions[len(versions)-1]}
	// The listing may miss versions that were added while it ran.
	for h.version < c.last() {
		there, err := durable.Exists(c.gen, versionName(h.version+1))
		if err != nil {
			return head{}, err
		}
		if !there {
			break
		}
		h.version++
		versions = append(versions, h.version)
	}
	if h.version > 0 {
		h.saved, err = c.newest(versions)
	}
	here, placeErr := d.inPlace(c)
	if placeErr != nil {
		return head{}, placeErr
	}
	if !here {
		return head{}, errMoved
	}
	if err != nil {
		return head{}, err
	}
	if h.saved != nil && h.saved.value.Version != h.version {
		// The newer ones are damaged but use up their numbers. Going on from
		// there loses no older content.
		d.log.Warn("session store: newest versions are damaged, an older one is used",
			"session", c.session, "agent", c.agent, "newest", h.version, "used", h.saved.value.Version)
		h.saved.value.Version = h.version
	}
	return h, nil
}

// listVersions returns the version numbers in a generation in ascending order.
// There is always at least one.
func (c *chain) listVersions(gen *os.Root, first int64) ([]int64, error) {
	names, err := listNames(gen, ".")
	if err != nil {
		return nil, moved(err)
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

// newest returns the content of the highest version that is undamaged. It searches
// the newest generation and then those below it.
func (c *chain) newest(versions []int64) (*saved, error) {
	found, err := c.newestIn(c.gen, versions)
	for _, first := range slices.Backward(c.older) {
		if !errors.Is(err, ErrDamaged) {
			break
		}
		gen, _, openErr := openDir(c.dir, genName(first))
		if openErr != nil {
			return nil, moved(openErr)
		}
		if versions, openErr = c.listVersions(gen, first); openErr == nil {
			found, err = c.newestIn(gen, versions)
		}
		if closeErr := gen.Close(); openErr != nil || closeErr != nil {
			return nil, errors.Join(openErr, closeErr)
		}
	}
	return found, err
}

func (c *chain) newestIn(gen *os.Root, versions []int64) (found *saved, err error) {
	err = fmt.Errorf("%w: no version", ErrDamaged)
	for _, v := range slices.Backward(versions) {
		if v == 0 { // chains start there; it has no content
			break
		}
		found, err = c.read(gen, v)
		if !errors.Is(err, ErrDamaged) {
			return found, moved(err)
		}
	}
	return nil, fmt.Errorf("read versions %v in agent directory %s: %w", versions, c.agent, err)
}
