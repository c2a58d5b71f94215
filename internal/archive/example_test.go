package archive_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/internal/archive"
)

func ExampleNewCache() {
	dir, err := os.MkdirTemp("", "satchel")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "pdf.md")
	if err := os.WriteFile(file, []byte("---\nname: pdf\ndescription: Fill in PDF forms.\n---\nUse the form tool.\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	cache := archive.NewCache(filepath.Join(dir, "cache"))
	skills, err := cache.Local(context.Background(), file, archive.Options{Limits: archive.Limits{MaxFiles: 100}})
	if err != nil {
		fmt.Println(err)
		return
	}
	entries, err := os.ReadDir(skills.Dir)
	fmt.Println(entries[0].Name(), err)

	_, err = cache.Local(context.Background(), file, archive.Options{SHA256: strings.Repeat("0", 64)})
	fmt.Println(errors.Is(err, archive.ErrPin))
	// Output:
	// SKILL.md <nil>
	// true
}
