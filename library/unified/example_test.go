package unified_test

import (
	"fmt"

	"github.com/satchel-go/satchel/library/unified"
)

func ExampleNew() {
	for _, o := range unified.New().Operations {
		fmt.Println(o.Name)
	}
	// Output:
	// runSkill
	// updateSkill
}
