package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"
)

var someSecrets = []Secret{
	{Name: "TOKEN", Value: "s3cr3t-value"}, {Name: "SHORT", Value: "s3cr"}, {Name: "REPEAT", Value: "ababc"},
	{Name: "LINES", Value: "one\ntwo"}, {Name: "NONE", Value: ""}, {Name: "KANJI", Value: "世界人"},
	{Name: "KEY", Value: " first-line\nsecond-line \n"},
}

func cleaned(tty bool, secrets []Secret, parts ...string) string {
	c := newCleaner(tty, secrets)
	var text []byte
	for _, p := range parts {
		text = c.add(text, []byte(p), false)
	}
	return string(c.add(text, nil, true))
}

func TestCleaner(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tty   bool
		parts []string
		want  string
	}{
		{"nothing", false, nil, ""},
		{"plain", false, []string{"a\r\nb"}, "a\r\nb"},
		{"line ends of a terminal", true, []string{"a\r\nb\r", "\nc"}, "a\nb\nc"},
		{"a program's own carriage returns", true, []string{"10%\r", "20%\r\r\n"}, "10%\r20%\r\n"},
		{"carriage return at the end", true, []string{"a\r"}, "a\r"},
		{"secret", false, []string{"<s3cr3t-value>"}, "<[TOKEN]>"},
		{"secret in two parts", false, []string{"<s3cr", "3t-value>"}, "<[TOKEN]>"},
		{"secret by bytes", false, strings.Split("<s3cr3t-value>", ""), "<[TOKEN]>"},
		{"the longer one", false, []string{"s3cr3t-valu!"}, "[SHORT]3t-valu!"},
		{"begins again", false, []string{"aba", "babc"}, "ab[REPEAT]"},
		{"over a line end of a terminal", true, []string{"one\r", "\ntwo"}, "[LINES]"},
		{"lines of a key", false, []string{"1 first-", "line\n2 second-line\n"}, "1 [KEY]\n2 [KEY]\n"},
		{"a key on a terminal", true, []string{"first-line\r\nsecond", "-line \r\n"}, "[KEY] \n"},
		{"cut off at the end", false, []string{"<s3cr3t-va"}, "<[TOKEN]"},
		{"a little at the end", false, []string{"yes"}, "yes"},
		{"characters", false, []string{"\xe4", "\xb8\x96\xe4\xb8\x96!"}, "世世!"},
		{"half a character", false, []string{"a\xe4\xb8"}, "a\uFFFD"},
		{"secret inside characters", false, []string{"世\xe7\x95", "\x8c人!"}, "[KANJI]!"},
		{"noise", false, []string{"a\xff\xfe", "\xff", "b\xffc"}, "a\uFFFDb\uFFFDc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := cleaned(tt.tty, someSecrets, tt.parts...); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzCleaner divides bytes in a way that the second argument gives: the text
// is always the same, and the secrets are not in it at any time.
func FuzzCleaner(f *testing.F) {
	for _, s := range []string{"", "a\r\nb", "x s3cr3t-value y", "ababababc", "one\r\ntwo", "世界人\xff\xfe", "s3cr3t-val"} {
		f.Add([]byte(s), []byte{1, 2, 3}, true)
		f.Add([]byte(s), []byte{1}, false)
	}
	f.Fuzz(func(t *testing.T, in, cuts []byte, tty bool) {
		want := cleaned(tty, someSecrets, string(in))
		c := newCleaner(tty, someSecrets)
		var text []byte
		for i := 0; len(in) > 0; i++ {
			n := len(in)
			if len(cuts) > 0 {
				n = min(n, int(cuts[i%len(cuts)]))
			}
			if n == 0 {
				n = 1
			}
			text, in = c.add(text, in[:n], false), in[n:]
			if !strings.HasPrefix(want, string(text)) {
				t.Fatalf("shown so far %q, in the end %q", text, want)
			}
		}
		if text = c.add(text, nil, true); string(text) != want {
			t.Fatalf("got %q, want %q", text, want)
		}
		if !utf8.Valid(text) {
			t.Errorf("%q is no text", text)
		}
		for _, s := range someSecrets {
			if s.Value != "" && strings.Contains(string(text), s.Value) {
				t.Errorf("%q is in %q", s.Value, text)
			}
		}
	})
}
