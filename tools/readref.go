package tools

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/internal/redact"
	"github.com/satchel-go/satchel/outputs"
)

// maxRef bounds a workspace file or artifact that skill_read reads, in bytes.
const maxRef = 16 << 20

// isRef reports whether a path is a reference to a workspace file or an
// artifact.
func isRef(path string) bool {
	return strings.HasPrefix(path, "workspace://") || strings.HasPrefix(path, "artifact://")
}

// readRef answers skill_read for such a reference.
func readRef(ctx context.Context, s *Scope, ref string, args Args) (string, error) {
	if s.Runner == nil {
		return "", tellf("there is no workspace here: only files of skills can be read")
	}
	file, err := s.Runner.open(ctx, s, ref)
	if err != nil {
		return "", told(ctx, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxRef+1))
	if err != nil {
		return "", told(ctx, err)
	}
	if len(data) > maxRef {
		return "", tellf("%s has more than %d bytes: let a command take out what you need", cut(ref, 200), maxRef)
	}
	secrets, err := s.Runner.knownSecrets(ctx, s)
	if err != nil {
		return "", err
	}
	return fileAnswer(cut(ref, 200), []byte(redact.NewSet(secrets).Text(string(data), 0)), args)
}

func (r *Runner) open(ctx context.Context, s *Scope, ref string) (io.ReadCloser, error) {
	if name, ok := strings.CutPrefix(ref, "workspace://"); ok {
		place, err := r.Workspaces.Of(ctx, s.Key.Session)
		if err != nil {
			return nil, err
		}
		defer place.Release()                                              // an open file outlives the use
		if rest, ok := strings.CutPrefix(cleanPath(name), "inputs/"); ok { // as in globs and inputs
			name = "work/inputs/" + rest
		}
		file, _, err := outputs.Open(place.Root(), name)
		return file, err
	}
	parsed, err := artifacts.ParseRef(ref)
	if err != nil {
		return nil, err
	}
	if r.Artifacts == nil {
		return nil, fmt.Errorf("open %q: %w", cut(ref, 200), artifacts.ErrNotFound)
	}
	file, _, err := r.Artifacts.Open(ctx, s.Key.Session, parsed)
	return file, err
}
