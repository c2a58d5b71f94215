package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// noWorkspace is the verdict on files of a conversation without a workspace.
var noWorkspace = finding{false, "the conversation has no workspace"}

// Run implements [check].
func (f fileCheck) Run(ctx context.Context, s subject) (finding, error) {
	if s.Dir == "" {
		return noWorkspace, nil
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return finding{false, "the workspace cannot be read: " + plainfile.Cause(err).Error()}, nil //nolint:nilerr // a verdict
	}
	defer root.Close()
	found, err := collect.Collect(ctx, collect.Dir(root), collect.Spec{Globs: []string{f.glob}})
	if err != nil {
		return finding{}, err
	}
	if len(found.Files) == 0 {
		evidence := "no file matches"
		isReason := func(w collect.Warning) bool { return w.Text != "matches no file" && w.Text != "no such file" }
		if i := slices.IndexFunc(found.Warnings, isReason); i >= 0 { // for example, of a link
			evidence += "; " + found.Warnings[i].String()
		}
		return finding{false, evidence}, nil
	}
	var names []string
	for _, file := range found.Files[:min(len(found.Files), maxNamed)] {
		names = append(names, fmt.Sprintf("%s (%d bytes)", file.Name, file.Size))
	}
	if more := len(found.Files) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return finding{true, strings.Join(names, ", ")}, nil
}

// valueCheck holds if a value of a JSON file is the wanted one.
type valueCheck struct {
	file    string
	pointer []string // the unescaped tokens
	want    string
}

// parseJSON reads FILE#/POINTER=VALUE. The pointer may be empty, which means the whole file.
func parseJSON(text string) (check, error) {
	form := errors.New("want json:FILE#/POINTER=VALUE")
	file, rest, found := strings.Cut(text, "#")
	if !found || file == "" {
		return nil, form
	}
	pointer, want, found := strings.Cut(rest, "=")
	if !found || pointer != "" && pointer[0] != '/' {
		return nil, form
	}
	if !isInside(file) {
		return nil, fmt.Errorf("the file is %q: want a path in the workspace, without ..", file)
	}
	if len(pointer) > maxPointer {
		return nil, fmt.Errorf("the pointer has %d bytes, at most %d are allowed", len(pointer), maxPointer)
	}
	c := valueCheck{file: path.Clean(file), want: want}
	if pointer == "" {
		return c, nil
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		c.pointer = append(c.pointer, tokenEscapes.Replace(token))
	}
	return c, nil
}

// tokenEscapes are the escapes of RFC 6901. A Replacer reads "~01" as "~1", as the standard wants.
var tokenEscapes = strings.NewReplacer("~0", "~", "~1", "/")

// Run implements [check].
func (c valueCheck) Run(_ context.Context, s subject) (finding, error) {
	if s.Dir == "" {
		return noWorkspace, nil
	}
	data, err := readFile(s.Dir, c.file)
	if err != nil {
		return finding{false, fmt.Sprintf("%s: %v", c.file, plainfile.Cause(err))}, nil
	}
	value, err := decodeJSON(data)
	if err != nil {
		return finding{false, fmt.Sprintf("%s is not JSON: %v", c.file, err)}, nil
	}
	value, ok := lookup(value, c.pointer)
	if !ok {
		return finding{false, c.file + " has no such value"}, nil
	}
	shown, err := json.Marshal(value)
	if err != nil {
		return finding{false, fmt.Sprintf("%s: %v", c.file, err)}, nil
	}
	return finding{c.matches(value), "the value is " + cutEvidence(string(shown))}, nil
}

// matches reports whether a value is the wanted text, or the JSON value that the text stands for.
func (c valueCheck) matches(value any) bool {
	if text, ok := value.(string); ok && text == c.want {
		return true
	}
	want, err := decodeJSON([]byte(c.want))
	return err == nil && equal(value, want)
}

// readFile returns the content of a plain file of the workspace.
func readFile(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := (plainfile.Tree{Root: root}).Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return nil, errors.Join(err, errors.New("want a file"))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxJSON+1))
	if err == nil && len(data) > maxJSON {
		err = fmt.Errorf("it has more than %d MiB", maxJSON>>20)
	}
	return data, err
}

// decodeJSON returns the one JSON value of a text, with its numbers as they are written.
func decodeJSON(data []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows the value")
	}
	return value, nil
}

// lookup returns the value at a pointer.
func lookup(value any, pointer []string) (any, bool) {
	for _, token := range pointer {
		switch at := value.(type) {
		case map[string]any:
			next, ok := at[token]
			if !ok {
				return nil, false
			}
			value = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at) || strconv.Itoa(i) != token {
				return nil, false
			}
			value = at[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// equal compares two decoded values. Numbers are equal if they have the same value: 1 is 1.0.
func equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && equalNumbers(a, b)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, value := range a {
			other, ok := b[key]
			if !ok || !equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return a == b
}

// equalNumbers compares integers by their digits, which a float64 might not hold, and others by
// value.
func equalNumbers(a, b json.Number) bool {
	if a == b {
		return true
	}
	if !strings.ContainsAny(string(a)+string(b), ".eE") {
		return false
	}
	x, errA := a.Float64()
	y, errB := b.Float64()
	return errA == nil && errB == nil && x == y
}

// cutEvidence returns the beginning of a text.
func cutEvidence(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	return strings.ToValidUTF8(text[:maxQuoted], "") + "…"
}
