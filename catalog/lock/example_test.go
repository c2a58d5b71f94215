package lock_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/lock"
)

func Example() {
	ctx := context.Background()
	files := fstest.MapFS{"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Fill in PDF forms.\n---\nUse the form tool.\n")}}
	skills, err := catalog.Open(ctx, []catalog.Root{catalog.FS("builtin", files)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer skills.Close()
	pdf, err := lock.Of(ctx, skills, "pdf", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := json.Marshal(lock.Lock{Version: 1, Skills: []lock.Skill{pdf}})
	if err != nil {
		fmt.Println(err)
		return
	}
	locked, err := lock.Parse(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range locked.Skills[0].Files {
		fmt.Println(locked.Skills[0].Name, f.Path, f.Size)
	}
	// Output: pdf SKILL.md 69
}
