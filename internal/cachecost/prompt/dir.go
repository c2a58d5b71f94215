package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ReadDir reads every capture below a directory: the files that end in .json,
// sorted by path.
func ReadDir(dir string) ([]*Capture, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read captures: %w", err)
	}
	defer root.Close()
	var captures []*Capture
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".json") {
			return err
		}
		all, err := readFile(root, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		captures = append(captures, all...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read captures of %s: %w", dir, err)
	}
	return captures, nil
}

func readFile(root *os.Root, name string) ([]*Capture, error) {
	file, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Read(file)
}

// WriteFile writes a capture to dir/SYSTEM/SCENARIO.VARIANT.json and returns the
// path. It makes the directories and replaces the file.
func (c *Capture) WriteFile(dir string) (written string, err error) {
	for _, part := range []string{c.System, c.Scenario} {
		if part == "" || !filepath.IsLocal(part) || strings.ContainsAny(part, `/\`) {
			return "", fmt.Errorf("write capture: %q cannot be part of a file name", part)
		}
	}
	name := strings.Join(slices.DeleteFunc([]string{c.Scenario, fileVariant(c.Variant), "json"}, func(s string) bool { return s == "" }), ".")
	written = filepath.Join(dir, c.System, name)
	if err := os.MkdirAll(filepath.Dir(written), 0o755); err != nil { //nolint:gosec // made to be read by others
		return "", fmt.Errorf("write capture: %w", err)
	}
	file, err := os.Create(written)
	if err != nil {
		return "", fmt.Errorf("write capture: %w", err)
	}
	if err = errors.Join(c.Write(file), file.Close()); err != nil {
		return "", fmt.Errorf("write capture %s: %w", written, err)
	}
	return written, nil
}

// fileVariant returns a variant as part of a file name: "turn/tool-result" becomes
// "turn.toolresult".
func fileVariant(variant string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '/':
			return '.'
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '+':
			return r
		}
		return -1
	}, variant)
}
