package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/skillmd"
)

// fetchedSource is a source that lists the files of all skills, which it fetches for that. The
// server needs their digests.
type fetchedSource struct {
	catalog.Source
	name string // of the source in findings

	mu     sync.Mutex // held for the whole of a Scan
	last   *source.Listing
	listed *source.Listing // last with files
	known  map[string]source.Entry
	failed time.Time // when a skill could not be fetched; zero if all were
}

// Name returns the name that stands in front of files in findings.
func (s *fetchedSource) Name() string { return s.name }

// Scan implements catalog.Source. Skills whose files cannot be fetched are findings.
func (s *fetchedSource) Scan(ctx context.Context, _ *source.Listing) (*source.Listing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, err := s.Source.Scan(ctx, s.last)
	if err != nil || next == s.last && (s.failed.IsZero() || time.Since(s.failed) < retryFetch) {
		return s.listed, err
	}
	s.failed = time.Time{}
	listed, known := &source.Listing{Diagnostics: slices.Clone(next.Diagnostics)}, make(map[string]source.Entry)
	for _, e := range next.Entries {
		if have, ok := s.known[e.ID]; ok && have.Revision == e.Revision {
			e = have
		} else if err := s.complete(ctx, &e); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			s.failed = time.Now()
			listed.Diagnostics = append(listed.Diagnostics, skillmd.Diagnostic{
				File: s.name + "/" + e.ID, Code: catalog.CodeUnreadable, Severity: skillmd.Error, Message: "not served: " + err.Error(),
			})
			continue
		}
		known[e.ID] = e
		listed.Entries = append(listed.Entries, e)
	}
	s.known, s.last, s.listed = known, next, listed
	return listed, nil
}

// complete adds the files and the front matter of a skill to its entry.
func (s *fetchedSource) complete(ctx context.Context, e *source.Entry) error {
	if e.Files != nil {
		return nil
	}
	files, err := s.Open(ctx, e.ID, e.Revision)
	if err != nil {
		return err
	}
	err = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := files.Open(path)
		if err != nil {
			return err
		}
		h := sha256.New()
		n, err := io.Copy(h, f)
		e.Files = append(e.Files, source.File{Path: path, Size: n, SHA256: hex.EncodeToString(h.Sum(nil))})
		return errors.Join(err, f.Close(), ctx.Err())
	})
	if err != nil {
		return err
	}
	f, err := files.Open(e.SkillFile())
	if err != nil {
		return err
	}
	defer f.Close()
	e.Head = make([]byte, maxHead)
	n, err := io.ReadFull(f, e.Head)
	e.Head = e.Head[:n]
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: %w", e.SkillFile(), err)
	}
	return nil
}
