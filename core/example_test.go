package core_test

import (
	"fmt"

	"github.com/satchel-go/satchel/core"
)

func ExampleFile_SetBytes() {
	f := core.File{Name: "table.csv", MIME: "text/csv"}
	f.SetBytes([]byte("one,two\n"))
	fmt.Println(f.Name, f.Size)
	// Output: table.csv 8
}
