package session

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// TestDirectoryLateWriter stops a writer between its steps while others write, to reach states
// that otherwise occur only by chance.
func TestDirectoryLateWriter(t *testing.T) {
	const n = versionsPerGeneration
	steps := []int{0, 1, n - 1, n, n + 1, n + minSaves, 3 * n, 10 * n}

	// begin returns a writer that read the record when it had the given number of saves.
	begin := func(t *testing.T, saves int) (*Directory, *chain, head, Value) {
		d := openTest(t, t.TempDir())
		bump(t, d, saves)
		v, err := d.Load(t.Context(), testKey)
		check(t, err)
		c, h, err := d.openValue(t.Context(), durable.Name("s"), durable.Name("a"))
		check(t, err)
		t.Cleanup(c.close)
		return d, c, h, v
	}
	disturb := func(t *testing.T, d *Directory, saves int) {
		t.Helper()
		v, err := d.Load(t.Context(), testKey)
		if rec := countedOf(t, v); err != nil || rec.Version != int64(saves) || rec.Calls != saves {
			t.Errorf("got %+v, %v, want %d saves", rec, err, saves)
		}
	}
	for _, others := range steps {
		t.Run(fmt.Sprint("before the link, others ", others), func(t *testing.T) {
			d, c, _, v := begin(t, 3)
			bump(t, d, others)
			if _, err := d.append(c, testKey, next(t, v)); errors.Is(err, ErrConflict) != (others > 0) || others == 0 && err != nil {
				t.Errorf("got %v", err)
			}
			bump(t, d, 1)
			disturb(t, d, 3+max(others, 1)+1)
		})
		t.Run(fmt.Sprint("after the link, others ", others), func(t *testing.T) {
			d, c, _, v := begin(t, 3)
			after := next(t, v)
			after.Version++
			data, err := encodeFile(entry{testKey, after})
			check(t, err)
			check(t, c.publish(4, data, tempPrefix+"x", false, false))
			bump(t, d, others)
			if here, err := d.inPlace(c); err != nil || !here {
				t.Errorf("a link that counts is told too late: %v", err)
			}
			disturb(t, d, 4+others)
		})
		t.Run(fmt.Sprint("before the next generation, others ", others), func(t *testing.T) {
			d, c, h, _ := begin(t, n)
			bump(t, d, others)
			check(t, d.addGeneration(c, h))
			if there, err := durable.Exists(c.dir, genName(n)); err != nil || there != (others < n+minSaves) {
				t.Errorf("the generation exists: %t, %v", there, err)
			}
			disturb(t, d, n+others)
			bump(t, d, 2*n)
			disturb(t, d, 3*n+others)
		})
		t.Run(fmt.Sprint("end before the link, saves ", others), func(t *testing.T) {
			d, c, _, v := begin(t, 3)
			check(t, d.End(t.Context(), "s"))
			bump(t, d, others)
			if _, err := d.append(c, testKey, v); !errors.Is(err, ErrConflict) {
				t.Errorf("got %v", err)
			}
			disturb(t, d, others)
		})
		t.Run(fmt.Sprint("end before the next generation, saves ", others), func(t *testing.T) {
			d, c, h, _ := begin(t, n)
			check(t, d.End(t.Context(), "s"))
			bump(t, d, others)
			check(t, d.addGeneration(c, h))
			disturb(t, d, others)
		})
	}
	t.Run("link into a session that is being removed", func(t *testing.T) {
		d, c, _, v := begin(t, 3)
		check(t, d.root.Rename(c.session, durable.EndedPrefix+"x"))
		check(t, c.gen.Remove(versionName(3)))
		if _, err := d.append(c, testKey, v); !errors.Is(err, ErrConflict) {
			t.Errorf("got %v", err)
		}
		disturb(t, d, 0)
	})
	t.Run("link into a generation that is being removed", func(t *testing.T) {
		d, c, _, v := begin(t, 3)
		bump(t, d, n-1)
		check(t, c.dir.Rename(genName(0), oldPrefix+"x"))
		check(t, c.gen.Remove(versionName(4)))
		if _, err := d.append(c, testKey, v); !errors.Is(err, ErrConflict) {
			t.Errorf("got %v", err)
		}
		disturb(t, d, 3+n-1)
		bump(t, d, n)
		if there, err := durable.Exists(c.dir, oldPrefix+"x"); err != nil || there {
			t.Errorf("remains: %t, %v", there, err)
		}
	})
	t.Run("look at a generation that is being removed", func(t *testing.T) {
		d, c, _, _ := begin(t, 3)
		check(t, c.dir.Rename(genName(0), oldPrefix+"x"))
		if _, err := d.readHead(c); !errors.Is(err, errMoved) {
			t.Errorf("got %v", err)
		}
		check(t, c.dir.RemoveAll(oldPrefix+"x"))
		if _, err := d.readHead(c); !errors.Is(err, errMoved) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
}
