package skillmd

import (
	"path"
	"slices"
	"strings"
	"testing"
)

func TestLinks(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"link":         {"See [a](references/a.md) and ![b](./b.png \"B\").", []string{"references/a.md", "b.png"}},
		"twice":        {"[a](a.md#part) `a.md`\n[a](./a.md?x=1)", []string{"a.md"}},
		"order":        {"`z.md`, [a](a.md), `m.md`", []string{"z.md", "a.md", "m.md"}},
		"inline code":  {"Run `python3 x.py --in data/in.csv` now.", []string{"x.py", "data/in.csv"}},
		"code block":   {"```sh\ncat references/a.md | less\n```\n", []string{"references/a.md"}},
		"not followed": {"[a](https://x.org/a.md) [b](/etc/passwd.txt) [c](../c.md) [d](.env.md) [e](a/../../e.md) [f](mailto:f@x.org)", nil},
		"prose":        {"The file notes.md is not named in code.", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Links(tt.text); !slices.Equal(got, tt.want) {
				t.Errorf("links %q, want %q", got, tt.want)
			}
		})
	}
	if n := len(Links(strings.Repeat("`a.md` ", 10) + strings.Repeat("[x](x.md)", 1000))); n != 2 {
		t.Errorf("%d links", n)
	}
}

func FuzzLinks(f *testing.F) {
	f.Add("[a](references/a.md)\n```\nb.md\n```\n`c.md`")
	f.Fuzz(func(t *testing.T, text string) {
		links := Links(text)
		if len(links) > maxLinks {
			t.Fatalf("%d links", len(links))
		}
		for _, p := range links {
			if path.Clean(p) != p || path.IsAbs(p) || p == ".." || strings.HasPrefix(p, "../") || strings.Contains("/"+p, "/.") {
				t.Errorf("link %q", p)
			}
		}
	})
}
