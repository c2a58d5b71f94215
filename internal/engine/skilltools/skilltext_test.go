package skilltools

import "testing"

// Names from disk are shown in errors so that they steer nothing.
func TestListsOfNamesArePrintable(t *testing.T) {
	names := []string{"a\u202eb.md", "line\nbreak", "表.md", "tag\U000E0041", "more"}
	want := `["a\u202eb.md","line\nbreak","表.md","tag\udb40\udc41"] and 1 more`
	if got := jsonList(names, 4); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := jsonList(nil, 4); got != "[]" {
		t.Errorf("%s of none", got)
	}
}
