package workspace

import (
	"slices"
	"testing"
)

// The names that messages mention are those under which the files are staged.
func TestAttachedNamesAreThoseOfAttach(t *testing.T) {
	got := AttachedNames([]string{"sales.csv", "", "../../sales.csv", "a\u202eb.txt", "sales.csv"}, func(int, string) bool { return false }, func(i, j int) bool { return i == 4 && j == 0 })
	want := []string{"sales.csv", "upload_2", "sales_2.csv", "ab.txt", "sales.csv"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
