package processors_test

import (
	"fmt"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/processors"
)

func ExampleOverviewText_Render() {
	o := processors.OverviewText{Format: processors.Lines, Guidance: "Load a skill before you rely on it."}
	fmt.Println(o.Render([]core.Skill{{Name: "pdf", Description: "Reads PDF files."}}))
	// Output:
	// <available_skills>
	// - pdf: Reads PDF files.
	// </available_skills>
	// Load a skill before you rely on it.
}

func ExampleOverviewText_ChangeNote() {
	before := processors.OverviewText{}.Listing([]core.Skill{{Name: "csv", Description: "Reads tables."}})
	after := []core.Skill{{Name: "pdf", Description: "Reads PDF files."}}
	fmt.Println(processors.OverviewText{}.ChangeNote(before, after))
	// Output:
	// <skills_changed>
	// new:
	// <name>pdf</name>Reads PDF files.
	// removed: csv
	// </skills_changed>
}
