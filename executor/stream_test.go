package executor

import "testing"

func TestStreamString(t *testing.T) {
	for _, tt := range []struct {
		name   string
		stream Stream
		want   string
	}{
		{"empty", Stream{}, ""},
		{"whole", Stream{Head: []byte("a\n")}, "a\n"},
		{"whole in two parts", Stream{Head: []byte("a"), Tail: []byte("b")}, "ab"},
		{"cut", Stream{Head: []byte("a"), Tail: []byte("z\n"), Dropped: 3}, "a\n[... 3 bytes left out ...]\nz\n"},
		{"cut after a line", Stream{Head: []byte("a\n"), Tail: []byte("z"), Dropped: 3}, "a\n[... 3 bytes left out ...]\nz"},
		{"nothing kept", Stream{Dropped: 3}, "[... 3 bytes left out ...]\n"},
		{"not text", Stream{Head: []byte("a\xff\xfeb")}, "a\uFFFDb"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.stream.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
