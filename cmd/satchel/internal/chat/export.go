package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// exporter copies the artifacts of a chat into a directory of the user.
type exporter struct {
	dir     string
	root    *os.Root
	store   artifacts.Store
	session string
	done    map[artifacts.Ref]bool
}

// newExporter makes the directory. It does not copy earlier artifacts of the session.
func newExporter(ctx context.Context, dir string, store artifacts.Store, session string) (_ *exporter, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w: --out: %w", cli.ErrStart, err)
		}
	}()
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // as a shell makes it
		return nil, err
	}
	saved, err := store.List(ctx, session)
	if err != nil {
		return nil, err
	}
	e := &exporter{dir: dir, store: store, session: session, done: make(map[artifacts.Ref]bool, len(saved))}
	for _, info := range saved {
		e.done[info.Ref] = true
	}
	e.root, err = os.OpenRoot(dir)
	return e, err
}

// export copies the artifacts since the last call and passes the path of each to tell. A nil exporter
// does nothing.
func (e *exporter) export(ctx context.Context, tell func(string)) error {
	if e == nil {
		return nil
	}
	saved, err := e.store.List(ctx, e.session)
	errs := []error{err}
	for _, info := range saved {
		if e.done[info.Ref] {
			continue
		}
		e.done[info.Ref] = true
		place, err := e.copy(ctx, info)
		if err != nil {
			errs = append(errs, fmt.Errorf("--out: %s: %w", cli.Printable(info.String()), err))
			continue
		}
		tell(fmt.Sprintf("%s (%d bytes)", filepath.Join(e.dir, filepath.FromSlash(place)), info.Size))
	}
	return errors.Join(errs...)
}

func (e *exporter) close() error {
	if e == nil {
		return nil
	}
	return e.root.Close()
}

// copy writes an artifact to a file that is not there yet, and returns its place.
func (e *exporter) copy(ctx context.Context, info artifacts.Info) (place string, err error) {
	content, _, err := e.store.Open(ctx, e.session, info.Ref)
	if err != nil {
		return "", err
	}
	defer content.Close()
	file, place, err := e.create(plainPath(info.Name))
	if err != nil {
		return "", err
	}
	_, err = io.Copy(file, content)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = e.root.Remove(place) // half a file is of no use
	}
	return place, err
}

// create makes a new file. Where there is one of that name it takes "name_2.ext" and so on.
func (e *exporter) create(name string) (*os.File, string, error) {
	if dir := path.Dir(name); dir != "." {
		if err := e.root.MkdirAll(dir, 0o755); err != nil {
			return nil, "", err
		}
	}
	ext := path.Ext(name)
	for n := 1; ; n++ {
		place := name
		if n > 1 {
			place = strings.TrimSuffix(name, ext) + "_" + strconv.Itoa(n) + ext
		}
		file, err := e.root.OpenFile(place, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil || !errors.Is(err, fs.ErrExist) || n == maxSameNames {
			return file, place, err
		}
	}
}

// plainPath makes the name of an artifact one for any file system: letters, digits, "._-"
// and inner blanks. No part begins with "." or "-".
func plainPath(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		part = strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("._- ", r) {
				return r
			}
			return '_'
		}, strings.Trim(part, " "))
		if part = strings.TrimRight(part, ". "); part == "" || strings.ContainsRune(".-", rune(part[0])) {
			part = "_" + part
		}
		parts[i] = part
	}
	return path.Join(parts...)
}
