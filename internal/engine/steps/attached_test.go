package steps

import (
	"testing"

	"github.com/satchel-go/satchel/core"
)

func TestAttachedLines(t *testing.T) {
	lines := AttachedLines([]core.File{
		{Origin: 1, As: "sales.csv", MIME: "text/csv; charset=utf-8", Size: 12_300},
		{Origin: 1, As: "sales_2.csv", MIME: "no type\nat all", Size: 3},
		{Origin: 3, ID: "https://example.com/x.png"},
		{Origin: 3, As: "upload_4", Size: 2_500_000},
	})
	want := map[int]string{
		1: "[attached: work/inputs/sales.csv, text/csv, 12 KB]\n[attached: work/inputs/sales_2.csv, 3 bytes]",
		3: "[attached: work/inputs/upload_4, 2.5 MB]",
	}
	if len(lines) != len(want) || lines[1] != want[1] || lines[3] != want[3] {
		t.Errorf("%v", lines)
	}
	messages := []core.Message{{Role: core.System, Text: "s"}, {Role: core.User, Text: "sum it up", Origin: 1}}
	view := attached(messages, &State{Attached: lines})
	if view[1].Text != "sum it up\n\n"+want[1] || view[0].Added != "" {
		t.Errorf("%+v", view)
	}
}
