package blobstore

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"gocloud.dev/gcerrors"

	"github.com/satchel-go/satchel/artifacts"
)

// description is the object of a version. It never changes.
type description struct {
	// Session are the exact bytes of the id.
	Session []byte    `json:"session"`
	Name    string    `json:"name"`
	MIME    string    `json:"mime"`
	Size    int64     `json:"size"`
	Digest  string    `json:"digest"`
	Created time.Time `json:"created"`
	// Content is the name of the object of the content.
	Content string `json:"content"`
}

// knownDescription is a description in memory, with the object that it was read from. A session
// that has ended and begun again may have another object under the same key.
type knownDescription struct {
	of   object
	read description
}

// describe reads the description of a version. o is its object in a listing below dir.
func (s *Store) describe(ctx context.Context, dir string, o object) (description, error) {
	key := dir + o.name
	s.mu.Lock()
	known, ok := s.known.Get(key)
	s.mu.Unlock()
	if ok && known.of == o {
		return known.read, nil
	}
	if o.size > maxDescription {
		return description{}, fmt.Errorf("%w: description of %d bytes", artifacts.ErrDamaged, o.size)
	}
	data, err := s.bucket.ReadAll(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return description{}, artifacts.ErrNotFound
	}
	if err != nil {
		return description{}, err
	}
	var d description
	if err := json.Unmarshal(data, &d); err != nil {
		return description{}, fmt.Errorf("%w: description: %w", artifacts.ErrDamaged, err)
	}
	if err := d.check(o.name); err != nil {
		return description{}, fmt.Errorf("%w: description: %w", artifacts.ErrDamaged, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.Put(key, knownDescription{o, d}, 1)
	return d, nil
}

// check refuses a description that belongs elsewhere. name is its key below the versions.
func (d description) check(name string) error {
	if !strings.HasPrefix(name, versionsOf(d.Name)) {
		return errors.New("belongs to another name")
	}
	if raw, err := hex.DecodeString(d.Digest); err != nil || len(raw) != 32 || d.Size < 0 {
		return fmt.Errorf("size %d, digest %.80q", d.Size, d.Digest)
	}
	if raw, err := hex.DecodeString(d.Content); err != nil || len(raw) != 16 {
		return fmt.Errorf("content %.80q", d.Content)
	}
	return artifacts.Ref{Name: d.Name}.Check()
}

func (d description) info(version int) artifacts.Info {
	return artifacts.Info{
		Ref:  artifacts.Ref{Name: d.Name, Version: version},
		MIME: d.MIME, Size: d.Size, Digest: d.Digest, Created: d.Created.UTC(),
	}
}

// kept is what a generation of a session holds.
type kept struct {
	dir      string // of the generation
	versions []keptVersion
	// bytes and contents are those of all contents, of Saves under way too.
	bytes    int64
	contents int
	// next is the number after the highest that a name has or had, by its hash.
	next map[string]int
}

type keptVersion struct {
	object  // below the versions
	version int
}

// look lists a generation.
func (s *Store) look(ctx context.Context, root string, g int) (*kept, error) {
	k := &kept{dir: root + generationDir(g), next: map[string]int{}}
	all, err := s.list(ctx, k.dir)
	if err != nil {
		return nil, err
	}
	k.fill(all)
	return k, nil
}

func (k *kept) fill(all []object) {
	removed := map[string]bool{}
	for _, o := range all {
		if name, ok := strings.CutPrefix(o.name, removedDir); ok {
			removed[name] = true
		}
	}
	for _, o := range all {
		if strings.HasPrefix(o.name, contentDir) {
			k.bytes += o.size
			k.contents++
			continue
		}
		name, ok := strings.CutPrefix(o.name, versionDir)
		if !ok {
			continue
		}
		of, digits, _ := strings.Cut(name, "/")
		version, ok := parseNumber(digits)
		if !ok {
			continue
		}
		k.next[of+"/"] = max(k.next[of+"/"], version+1)
		if !removed[name] {
			k.versions = append(k.versions, keptVersion{object{name, o.size, o.time}, version})
		}
	}
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) }
