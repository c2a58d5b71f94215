package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/internal/files/collect"
)

// defaultUploads is the default of [Runner.UploadPrefix].
const defaultUploads = "uploads/"

// isUpload reports whether a name begins with the prefix of uploads. It also returns true for
// names that some store could treat as equal to such a name.
func (r *Runner) isUpload(name string) bool {
	plain := func(name string) string {
		name = strings.Map(func(c rune) rune {
			switch {
			case c == '\\':
				return '/'
			case unicode.Is(unicode.Cf, c), unicode.Is(unicode.Mn, c), unicode.IsControl(c), c == utf8.RuneError:
				return -1
			case 0xff01 <= c && c <= 0xff5e: // full width
				c -= 0xfee0
			}
			for least := unicode.SimpleFold(c); least != c; least = unicode.SimpleFold(least) {
				if least < c {
					return unicode.ToLower(least) // K for the sign of kelvin
				}
			}
			return unicode.ToLower(c)
		}, name)
		parts := strings.Split(strings.TrimPrefix(path.Clean("/"+name), "/"), "/")
		for i := range parts {
			parts[i] = strings.TrimRight(strings.TrimSpace(parts[i]), ". ") // as Windows does
		}
		return strings.Join(parts, "/")
	}
	begins := cmp.Or(r.UploadPrefix, defaultUploads)
	if strings.HasSuffix(begins, "/") {
		return strings.HasPrefix(plain(name)+"/", plain(begins)+"/")
	}
	return strings.HasPrefix(plain(name), plain(begins))
}

var errUpload = errors.New("names of files of the user are not for what commands save")

var errReplaced = errors.New("it is not the plain file any more that was collected")

// save stores complete files and returns what it has stored. A file that cannot be stored
// completely becomes a warning. The error is for the host, because the texts of a store are not
// for the model.
func (w *answer) save(ctx context.Context, files []collect.File, spec collect.Spec) (all []artifacts.Info, failed error) {
	if w.st.runner.Artifacts == nil {
		w.notes.add("nothing was saved: the host has no artifact store")
		return nil, nil
	}
	files, warnings := spec.Savable(files)
	w.notes.warn(warnings)
	for _, f := range files {
		saved, err := w.saveFile(ctx, f, spec)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s was not saved: %w", f.Name, err))
			w.notes.warn([]collect.Warning{{Name: f.Name, Text: "not saved: " + saveProblem(err)}})
			continue
		}
		all = append(all, saved)
	}
	return all, failed
}

func (w *answer) saveFile(ctx context.Context, f collect.File, spec collect.Spec) (artifacts.Info, error) {
	name := spec.ArtifactName(f.Name)
	if w.st.runner.isUpload(name) {
		return artifacts.Info{}, errUpload
	}
	file, err := collect.Open(w.st.place, f.Name)
	if err != nil {
		return artifacts.Info{}, fmt.Errorf("%w: %w", errReplaced, err)
	}
	defer file.Close()
	limit := spec.MaxFileBytes
	if limit <= 0 {
		limit = collect.DefaultMaxFileBytes
	}
	return w.st.runner.Artifacts.Save(ctx, w.st.scope.Key().Session, name, f.MIME, file, limit)
}

// saveProblem says why a file was not saved, without the paths and names in a store's error.
func saveProblem(err error) string {
	for _, known := range []struct {
		err  error
		what string
	}{
		{artifacts.ErrTooLarge, "it has grown beyond max_file_bytes"},
		{artifacts.ErrFull, "the artifact store is full"},
		{artifacts.ErrQuota, "the artifacts of this conversation have reached their limit"},
		{artifacts.ErrEnded, "the session has ended"},
		{artifacts.ErrName, "the name that name_template gives it is none for an artifact: give a relative path such as reports/"},
		{errUpload, errUpload.Error() + ": give another name_template"},
		{errReplaced, errReplaced.Error()},
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
