package skilltext

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
		"encoded":      {"[x](references/with%20space.md#a%20b) [y](100%.md)", []string{"references/with space.md", "100%.md"}},
		"encoded sign": {"[x](references/a%23b%3Fc.md)", []string{"references/a#b?c.md"}},
		"angles":       {"[x](<references/with space.md> \"T\"), <references/b c.md> and ![i](<d e.png>)", []string{"references/with space.md", "references/b c.md", "d e.png"}},
		"definition":   {"[see][ref], [other][]\n\n[ref]: references/a.md \"A\"\n  [other]: <references/b c.md>", []string{"references/a.md", "references/b c.md"}},
		"hidden away":  {"[a](%2e%2e/c.md) [b](%2Fetc/passwd.md) [c](x/%2e%2e/%2e%2e/e.md) [d](a%5Cb.md) [e](%2eenv.md) [f](a%00.md)\n[g]: ../x.md\n[h]: https://x.org/a.md\n<a@b.org/x.md> <img src=\"a/b.png\">", nil},
		"code of refs": {"```\n[ref]: a.md\n```", []string{"a.md"}},
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
