package scenario

import (
	"reflect"
	"testing"
)

// Fields that are not known are left out and named.
func TestParseUnknownFields(t *testing.T) {
	text := `{"name":"x","NAME":"y","comment":{"turns":1},"tools":[{"name":"f","strict":true,"parameters":{"any":{"thing":1}}}],
		"turns":[{"user":"a","note":1,"steps":[{"say":"b","why":"c"}]},{"note":2,"idle_seconds":1}]}`
	s, err := Parse([]byte(text))
	if err != nil || s.Name != "y" || len(s.Turns) != 2 || s.Turns[0].Steps[0].Say != "b" {
		t.Fatalf("%+v, %v", s, err)
	}
	if want := []string{"comment", "tools[].strict", "turns[].note", "turns[].steps[].why"}; !reflect.DeepEqual(s.Unknown, want) {
		t.Errorf("unknown %q, want %q", s.Unknown, want)
	}
	if s, err := Parse([]byte(small)); err != nil || len(s.Unknown) > 0 {
		t.Errorf("unknown %q, %v", s.Unknown, err)
	}
}
