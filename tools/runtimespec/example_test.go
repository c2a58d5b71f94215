package runtimespec_test

import (
	"fmt"

	"github.com/satchel-go/satchel/tools/runtimespec"
)

func ExampleNew() {
	words := runtimespec.New()
	fmt.Println(words.Loads())
	// Output: skills_load
}
