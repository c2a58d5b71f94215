package tools_test

import (
	"fmt"

	"github.com/satchel-go/satchel/tools"
)

func ExampleChoose() {
	set, err := tools.Choose(tools.Default(), []string{"skill_load", "skill_read"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range set.Tools() {
		fmt.Println(t.Name)
	}
	_, err = tools.Choose(tools.Default(), []string{"skill_read"})
	fmt.Println(err)
	// Output:
	// skill_load
	// skill_read
	// tools cannot work together: skill_read is of no use without skill_load
}

func ExampleNewSet() {
	set, err := tools.NewSet(tools.ListDocs())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", set.Tools()[0].Schema)
	// Output: {"properties":{"skill":{"type":"string"}},"required":["skill"],"type":"object"}
}

func ExampleProfile_Names() {
	fmt.Println(tools.KnowledgeOnly.Names())
	// Output: [skill_load skill_select_docs skill_list_docs] <nil>
}
