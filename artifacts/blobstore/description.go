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

// description is the content of the object of a version. It never changes.
type description struct {
	// Session is the exact bytes of the session id.
	Session []byte    `json:"session"`
	Name    string    `json:"name"`
	MIME    string    `json:"mime"`
	Size    int64     `json:"size"`
	Digest  string    `json:"digest"`
	Created time.Time `json:"created"`
	// Content is the name of the object with the content.
	Content string `json:"content"`
}

// cachedDescription is a description in memory, with the listed object that it was read from.
// After a session has ended and begun again, the same key may have another object.
type cachedDescription struct {
	object      object
	description description
}

// describe returns the description of a version. o is its object in a listing of dir.
func (s *Store) describe(ctx context.Context, dir string, o object) (description, error) {
	key := dir + o.name
	s.mu.Lock()
	known, ok := s.descriptions.Get(key)
	s.mu.Unlock()
	if ok && known.object == o {
		return known.description, nil
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
	s.descriptions.Put(key, cachedDescription{o, d}, 1)
	return d, nil
}

// check returns an error if the description does not belong to the object. name is its key
// below the versions.
func (d description) check(name string) error {
	if !strings.HasPrefix(name, nameDir(d.Name)) {
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

// generation holds the listed objects of a generation: what a session has between two ends.
type generation struct {
	dir      string // the prefix of its keys
	versions []storedVersion
	// bytes and contents count all contents, including those of Saves in progress.
	bytes    int64
	contents int
	// next is the number for the next version of a name, by the directory of the name.
	next map[string]int
}

type storedVersion struct {
	object  // its name is the key below the versions
	version int
}

// readGeneration lists a generation.
func (s *Store) readGeneration(ctx context.Context, root string, g int) (*generation, error) {
	k := &generation{dir: root + generationDir(g), next: map[string]int{}}
	all, err := s.list(ctx, k.dir)
	if err != nil {
		return nil, err
	}
	k.add(all)
	return k, nil
}

// add adds listed objects.
func (k *generation) add(all []object) {
	isRemoved := map[string]bool{}
	for _, o := range all {
		if name, ok := strings.CutPrefix(o.name, removedDir); ok {
			isRemoved[name] = true
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
		if !isRemoved[name] {
			k.versions = append(k.versions, storedVersion{object{name, o.size, o.time}, version})
		}
	}
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) }
