package call

import (
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	deep := strings.Repeat("[ ", 80) + strings.Repeat("]", 80)
	for text, want := range map[string]string{
		`{"skill":"a", "command": "ls"}`:                    `{"command":"ls","skill":"a"}`,
		` {"b":1.0,"a":[true,null,{"y":1e3,"x":"\u0041"}]}`: `{"a":[true,null,{"x":"A","y":1e3}],"b":1.0}`,
		`12345678901234567890`:                              `12345678901234567890`,

		// Objects that JSON readers may understand differently stay unchanged.
		`{"Command":"id", "command":"ls"}`: `{"Command":"id", "command":"ls"}`,
		`{"command":"id", "command":"ls"}`: `{"command":"id", "command":"ls"}`,
		`{"env":{"a":"1", "A":"2"}}`:       `{"env":{"a":"1", "A":"2"}}`,
		`{"env":{"\u212a":"1", "k":"2"}}`:  `{"env":{"\u212a":"1", "k":"2"}}`,
		`[{"a":1}, {"a":2}]`:               `[{"a":1},{"a":2}]`,
		`{"a":1} {"a":2}`:                  `{"a":1} {"a":2}`,
		`{"a":1`:                           `{"a":1`,
		`ls -l`:                            `ls -l`,
		``:                                 ``,
		deep:                               deep,
	} {
		if got := canonical(text); got != want {
			t.Errorf("%s\n gives %s\n want  %s", text, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, text := range []string{`{"b":1,"a":[1,2]}`, `{"a":1,"A":2}`, `"x"`, `[[[`, "\xff", `{"a":1}x`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := canonical(text)
		if again := canonical(once); again != once {
			t.Errorf("%q becomes %q and then %q", text, once, again)
		}
	})
}
