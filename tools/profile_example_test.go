package tools_test

import (
	"fmt"

	"github.com/satchel-go/satchel/tools"
)

func ExampleProfile_Names() {
	fmt.Println(tools.KnowledgeOnly.Names())
	// Output: [skill_load skill_select_docs skill_list_docs] <nil>
}
