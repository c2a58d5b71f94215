package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/redact"
)

func secrets(pairs ...string) (all []redact.Secret) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, redact.Secret{Name: pairs[i], Value: pairs[i+1]})
	}
	return all
}

func TestText(t *testing.T) {
	nested := secrets("A", "tok-abcd", "B", "tok-abcd-and-the-long-rest")
	overlapping := secrets("A", "abcdef", "B", "efghij")
	repeating := secrets("A", "abcabc")
	for _, tt := range []struct {
		name     string
		secrets  []redact.Secret
		in, want string
		cut      redact.Cut
	}{
		{"none", nil, "text", "text", 0},
		{"nothing to find", secrets("A", "x"), "text", "text", 0},
		{"nothing", nested, "", "", 0},
		{"one", nested, "<tok-abcd>", "<[A]>", 0},
		{"the beginning of another", nested, "tok-abcd-and-the-long-rest tok-abcd", "[B] [A]", 0},
		{"two that overlap", overlapping, "<abcdefghij>", "<[A]>", 0},
		{"two side by side", overlapping, "abcdefefghij", "[A][B]", 0},
		{"over itself", repeating, "abcabcabcx", "[A]x", 0},
		{"twice", repeating, "abcabc abcabc", "[A] [A]", 0},
		{"a part, not cut", nested, "tok-abc", "tok-abc", 0},
		{"a part at the end", nested, "x tok-abc", "x [B]", redact.AtEnd},
		{"more than the whole at the end", nested, "x tok-abcd-and", "x [B]", redact.AtEnd},
		{"a little at the end", nested, "x to", "x to", redact.AtEnd},
		{"a part at the beginning", nested, "ong-rest x", "[B] x", redact.AtBeginning},
		{"a little at the beginning", nested, "st x", "st x", redact.AtBeginning},
		{"cut at both ends", nested, "-abcd x tok-a", "[A] x [B]", redact.AtBeginning | redact.AtEnd},
		{"nothing but a part", nested, "-and-the-", "-and-the-", redact.AtBeginning | redact.AtEnd},
		{"a line of a key", secrets("K", "first-line\nsecond-line"), "x second-line", "x [K]", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := redact.NewSet(tt.secrets).Text(tt.in, tt.cut); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A secret may overlap itself. A stream does not hold back an endless repetition of it for ever.
func TestStreamHoldsLittle(t *testing.T) {
	s := redact.Stream{Set: redact.NewSet(secrets("A", "aaaa"))}
	shown := 0
	for range 10_000 {
		shown += len(s.Add([]byte("aa"), false))
		if held := len(s.Held()); held > 12 {
			t.Fatalf("%d bytes are held back", held)
		}
	}
	if shown == 0 {
		t.Error("nothing was shown")
	}
}

// FuzzText: a text shows no secret, and a stream shows the same text however it
// is divided.
func FuzzText(f *testing.F) {
	f.Add("tok-abcd-and-more abcdefghij", "tok-abcd", "tok-abcd-and-more", 3)
	f.Add("aaaaaaaaaaaaaaaaaaaaa", "aaaa", "aaaaa", 1)
	f.Add("one\ntwo three-four", " one\ntwo ", "three-four\nfive-six", 5)
	f.Fuzz(func(t *testing.T, text, a, b string, step int) {
		text, a, b = text[:min(len(text), 2000)], a[:min(len(a), 60)], b[:min(len(b), 60)]
		all := secrets("", a, "", b) // names are empty: a name could contain a part of the other value
		set := redact.NewSet(all)
		want := set.Text(text, redact.AtEnd)
		for _, s := range all {
			for _, form := range redact.Forms(s.Value) {
				if strings.Contains(want, form) && !strings.ContainsAny(form, "[]") {
					t.Fatalf("%q is in %q", form, want)
				}
			}
		}
		stream := redact.Stream{Set: set}
		var got []byte
		step = max(1, step%64)
		for rest := text; rest != ""; {
			n := min(step, len(rest))
			got = append(got, stream.Add([]byte(rest[:n]), false)...)
			rest = rest[n:]
		}
		if got = append(got, stream.Add(nil, true)...); string(got) != want {
			t.Fatalf("in parts of %d %q, whole %q", step, got, want)
		}
	})
}

func ExampleSet_Text() {
	set := redact.NewSet([]redact.Secret{{Name: "TOKEN", Value: "s3cr3t-value\n"}})
	fmt.Println(set.Text("bearer s3cr3t-value, then", 0))
	// Output: bearer [TOKEN], then
}

func BenchmarkText(b *testing.B) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog\n", 400)
	var key strings.Builder
	for i := range 50 {
		fmt.Fprintf(&key, "%064x\n", i*0x1234567)
	}
	set := redact.NewSet(secrets("KEY", key.String(), "TOKEN", "s3cr3t-value"))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		set.Text(text, 0)
	}
}
