package run

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/text/callargs"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/redact"
	"github.com/satchel-go/satchel/tools"
)

// ReadRef returns the content of workspace://path or artifact://name[@version], of at most 16
// MiB, with secrets replaced. It implements ReadRef of [tools.Scope].
func (r *Runner) ReadRef(ctx context.Context, public *tools.Scope, ref string) ([]byte, error) {
	s, err := skilltools.From(public)
	if err != nil {
		return nil, err
	}
	file, err := r.open(ctx, s, ref)
	if err != nil {
		return nil, modelError(ctx, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxRef+1))
	if err != nil {
		return nil, modelError(ctx, err)
	}
	if len(data) > maxRef {
		return nil, tools.ModelErrorf("%s has more than %d bytes: let a command take out what you need", printable.CutLine(ref, 200), maxRef)
	}
	secrets, err := secretSource{r.Secret, r.history}.knownSecrets(ctx, s)
	if err != nil {
		return nil, err
	}
	return []byte(redact.NewSet(secrets).Text(string(data), 0)), nil
}

// WorkspaceAt returns the absolute path at which the commands of a session see its workspace. It
// implements Workspace of [tools.Scope].
func (r *Runner) WorkspaceAt(ctx context.Context, session string) (string, error) {
	if at := r.Executor.Capabilities().WorkspaceAt; at != "" {
		return at, nil
	}
	place, err := r.workspace(ctx, session)
	if err != nil {
		return "", modelError(ctx, err)
	}
	defer place.Release()
	return place.Path(), nil
}

func (r *Runner) open(ctx context.Context, s *skilltools.Scope, ref string) (io.ReadCloser, error) {
	if name, ok := strings.CutPrefix(ref, "workspace://"); ok {
		place, err := r.workspace(ctx, s.Key().Session)
		if err != nil {
			return nil, err
		}
		defer place.Release() // an open file can be read after that
		if rel, ok := callargs.Below(cmp.Or(r.Executor.Capabilities().WorkspaceAt, place.Path()), name); ok {
			name = rel
		}
		if rest, ok := strings.CutPrefix(path.Clean(name), "inputs/"); ok { // as in globs and inputs
			name = "work/inputs/" + rest
		}
		return collect.Open(place, callargs.ThroughLinks(name))
	}
	parsed, err := artifacts.ParseRef(ref)
	if err != nil {
		return nil, err
	}
	if r.Artifacts == nil {
		return nil, fmt.Errorf("open %q: %w", printable.Cut(ref, 200), artifacts.ErrNotFound)
	}
	file, _, err := r.Artifacts.Open(ctx, s.Key().Session, parsed)
	return file, err
}
