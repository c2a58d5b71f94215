package tracing

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// Files are the files of one trace.
type Files struct {
	Files []string `arg:"" name:"file" help:"Files of one trace, in any order, or directories of them; - is standard input."`
}

// standardInput is the name of standard input as an argument.
const standardInput = "-"

// traceName is what files in a directory are called that --trace DIR/ writes, full ones too.
var traceName = regexp.MustCompile(`^[^.].*\.jsonl(\.[0-9]+)?$`)

// names returns the files, and for a directory those in it.
func (f *Files) names() (names []string, err error) {
	for _, name := range f.Files {
		info, err := os.Stat(name)
		if name == standardInput || err != nil || !info.IsDir() { // errors of files come when they are opened
			names = append(names, name)
			continue
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			return nil, fmt.Errorf("read trace: %w", err)
		}
		before := len(names)
		for _, e := range entries {
			if path := filepath.Join(name, e.Name()); traceName.MatchString(e.Name()) && isFile(path) {
				names = append(names, path)
			}
		}
		if len(names) == before {
			return nil, fmt.Errorf("read trace: %s has no files of a trace: they end with .jsonl or .jsonl.NUMBER", name)
		}
	}
	return names, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// title returns the name of the first file, and how many others there are.
func (f *Files) title() string {
	name := "standard input"
	if f.Files[0] != standardInput {
		name = filepath.Base(f.Files[0])
	}
	if more := len(f.Files) - 1; more > 0 {
		return fmt.Sprintf("%s and %d more", name, more)
	}
	return name
}

// read reads the files and says on standard error what is missing.
func (f *Files) read(c cli.Console) (*tracelog.Trace, error) {
	names, err := f.names()
	if err != nil {
		return nil, err
	}
	r := tracelog.NewReader()
	for _, name := range names {
		if err := addFile(r, name, c.In); err != nil {
			return nil, err
		}
	}
	t, err := r.Trace()
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	if t.Cut > 0 {
		fmt.Fprintf(c.Err, "satchel: %s of the trace cannot be read and left out\n", cli.Count(t.Cut, "line"))
	}
	if err := t.CompareProcesses(comparison()); err != nil {
		return nil, fmt.Errorf("compare the requests of a trace: %w", err)
	}
	return t, nil
}

func addFile(r *tracelog.Reader, name string, in io.Reader) error {
	if name == standardInput {
		return r.Add("standard input", in)
	}
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read trace: %w", err)
	}
	defer file.Close()
	return r.Add(name, file)
}

// state describes the files without their text. Two states are equal if no file has changed. ok is false
// if the files cannot be read again.
func (f *Files) state() (state string, ok bool) {
	names, err := f.names()
	if err != nil {
		return "", false
	}
	var b strings.Builder
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			return "", false
		}
		fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
	}
	return b.String(), true
}

// checkOut checks that a page does not replace a file of the trace.
func (f *Files) checkOut(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // a new file
	}
	names, err := f.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if one, err := os.Stat(name); err == nil && os.SameFile(info, one) {
			return fmt.Errorf("%w: --html %s is a file of the trace", cli.ErrUsage, path)
		}
	}
	return nil
}
