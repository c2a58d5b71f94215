package library

import (
	"context"

	"github.com/satchel-go/satchel/library/internal/textedit"
)

// Diff is the difference of two versions.
type Diff struct {
	// Unified has three lines of context and applies with patch. Numbered has the old and the
	// new number of each line. Both have the files in the order of their paths.
	Unified, Numbered string
	Added, Removed    int // lines
}

// texts returns all files of the skill. It takes the bytes from other if the digest is the same,
// and reads the rest.
func (s *Skill) texts(ctx context.Context, other map[string][]byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, f := range s.Files {
		if data, ok := other[f.Path]; ok && sumOf(data) == f.Digest {
			out[f.Path] = data
			continue
		}
		data, err := s.read(ctx, f)
		if err != nil {
			return nil, err
		}
		out[f.Path] = data
	}
	return out, nil
}

// Compare sets d to the difference of all files of two versions.
func (d *Diff) Compare(before, after map[string][]byte) {
	*d = Diff(textedit.CompareFiles(before, after, skillFile))
}

// Diff returns the difference of two versions, of one skill or of two.
func (l *Library) Diff(ctx context.Context, a Actor, from, to Ref) (Diff, error) {
	x, err := l.Inspect(ctx, a, from)
	if err != nil {
		return Diff{}, err
	}
	y, err := l.Inspect(ctx, a, to)
	if err != nil {
		return Diff{}, err
	}
	before, err := x.ReadAll(ctx)
	if err != nil {
		return Diff{}, err
	}
	after, err := y.ReadAll(ctx)
	if err != nil {
		return Diff{}, err
	}
	return Diff(textedit.CompareFiles(before, after, skillFile)), nil
}
