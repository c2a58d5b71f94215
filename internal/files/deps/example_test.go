package deps_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/satchel-go/satchel/internal/files/deps"
)

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "packages")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	cache, err := deps.Create(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	nothing := func(string) ([]byte, error) { return nil, fs.ErrNotExist } // a skill that requires no packages
	_, err = cache.Find(context.Background(), nothing)
	fmt.Println(err)
	// Output: <nil>
}
