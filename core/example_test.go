package core_test

import (
	"fmt"

	"github.com/satchel-go/satchel/core"
)

func ExampleFileBytes() {
	f := core.FileBytes([]byte("one,two\n"))
	f.Name, f.MIME = "table.csv", "text/csv"
	fmt.Println(f.Name, f.Size)
	// Output: table.csv 8
}

func ExampleParseScope() {
	scope, ok := core.ParseScope("user")
	fmt.Println(scope, ok)
	_, ok = core.ParseScope("everybody")
	fmt.Println(ok)
	// Output:
	// user true
	// false
}
