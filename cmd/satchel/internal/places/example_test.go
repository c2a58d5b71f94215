package places_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing/fstest"

	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
)

func Example() {
	ctx := context.Background()
	files := fstest.MapFS{"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Fill in PDF forms.\n---\nUse the form tool.\n")}}
	skills, err := catalog.Open(ctx, []source.Root{source.FS("builtin", files)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer skills.Close()
	pdf, err := places.LockOf(ctx, skills, "pdf", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := json.Marshal(places.Lock{Version: 1, Skills: []places.LockedSkill{pdf}})
	if err != nil {
		fmt.Println(err)
		return
	}
	locked, err := places.ParseLock(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range locked.Skills[0].Files {
		fmt.Println(locked.Skills[0].Name, f.Path, f.Size)
	}
	// Output: pdf SKILL.md 69
}

func ExampleReadLock() {
	dir, err := os.MkdirTemp("", "satchel")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	_, err = places.ReadLock(dir)
	fmt.Println(errors.Is(err, fs.ErrNotExist))

	if err := os.WriteFile(filepath.Join(dir, places.LockFile), []byte(`{"version":1,"skills":[]}`), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	locked, err := places.ReadLock(dir)
	fmt.Println(len(locked.Skills), err)
	// Output:
	// true
	// 0 <nil>
}

func ExampleReadInstaller() {
	project, err := os.MkdirTemp("", "satchel")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(project)
	text := `{"version":1,"skills":{"pdf":{"source":"acme/skills","computedHash":"1f2e"}}}`
	if err := os.WriteFile(filepath.Join(project, places.InstallerFile), []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	installed, err := places.ReadInstaller(filepath.Join(project, ".agents", "skills"))
	fmt.Println(installed["pdf"].Source, err)
	// Output: acme/skills <nil>
}

func ExampleParseInstaller() {
	installed, err := places.ParseInstaller([]byte(`{"version":1,"skills":{"pdf":{"source":"acme/skills","computedHash":"1f2e"}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	pdf, ok := installed.EntryOf(core.Skill{Name: "pdf"})
	fmt.Println(pdf.Source, ok)
	// Output: acme/skills true
}
