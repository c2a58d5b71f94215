package tools

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/outputs"
)

var errGone = errors.New("it is not the plain file any more that was collected")

// save stores whole files. What cannot be stored whole is a warning, never a
// part. The error is for the host: what stores say of themselves is not for the
// model.
func (j *running) save(ctx context.Context, a *runAnswer, files []outputs.File, spec outputs.Spec) (failed error) {
	if j.Artifacts == nil {
		j.warnings = append(j.warnings, "nothing was saved: the host has no artifact store")
		return nil
	}
	files, warnings := spec.Savable(files)
	j.warn(warnings)
	for _, f := range files {
		saved, err := j.saveFile(ctx, f, spec)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s was not saved: %w", f.Name, err))
			j.warn([]outputs.Warning{{Name: f.Name, Text: "not saved: " + unsaved(err)}})
			continue
		}
		a.Artifacts = append(a.Artifacts, savedFile{j.redact(saved.Name), saved.Version})
	}
	return failed
}

func (j *running) saveFile(ctx context.Context, f outputs.File, spec outputs.Spec) (artifacts.Info, error) {
	file, _, err := outputs.Open(j.place.Root(), f.Name)
	if err != nil {
		return artifacts.Info{}, fmt.Errorf("%w: %w", errGone, err)
	}
	defer file.Close()
	limit := spec.MaxFileBytes
	if limit <= 0 {
		limit = outputs.DefaultMaxFileBytes
	}
	return j.Artifacts.Save(ctx, j.scope.Key.Session, spec.ArtifactName(f.Name), f.MIME, file, limit)
}

// unsaved says why a file was not saved, without the paths and names that a
// store has in its errors.
func unsaved(err error) string {
	for _, known := range []struct {
		err  error
		what string
	}{
		{artifacts.ErrTooLarge, "it has grown beyond max_file_bytes"},
		{artifacts.ErrFull, "the artifact store is full"},
		{artifacts.ErrEnded, "the session has ended"},
		{artifacts.ErrName, "the name that name_template gives it is none for an artifact: give a relative path such as reports/"},
		{errGone, errGone.Error()},
	} {
		if errors.Is(err, known.err) {
			return known.what
		}
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return "the artifact store failed: " + errno.Error()
	}
	return "the artifact store failed"
}
