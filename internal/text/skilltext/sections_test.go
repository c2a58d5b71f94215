package skilltext

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHeadings(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"no heading", "text\n#hashtag\n####### seven\n", ""},
		{"levels", "# A\na\n## B\nb\n### C\nc\n## D\nd\n# E\ne\n", `a="# A\na\n## B\nb\n### C\nc\n## D\nd\n" b="## B\nb\n### C\nc\n" c="### C\nc\n" d="## D\nd\n" e="# E\ne\n"`},
		{"a level is left out", "# A\n### B\n## C\n", `a="# A\n### B\n## C\n" b="### B\n" c="## C\n"`},
		{"the lowest first", "### A\n# B\n", `a="### A\n" b="# B\n"`},
		{"no line end", "# A\nx\n## B", `a="# A\nx\n## B" b="## B"`},
		{"text before", "intro\n# A\n", `a="# A\n"`},
		{"closing marks", "## A ##\n## B#\n## #\n", `a="## A ##\n" b="## B#\n" section="## #\n"`},
		{"indented", "   # A\n    # code\n\t# code\n", `a="   # A\n    # code\n\t# code\n"`},
		{"fenced", "# A\n```sh\n# no\n```\n~~~\n# no\n```\n# no\n~~~\n# B\n", `a="# A\n` + "```sh\\n# no\\n```\\n~~~\\n# no\\n```\\n# no\\n~~~\\n" + `" b="# B\n"`},
		{"a longer fence", "````\n```\n# no\n````\n# A\n", `a="# A\n"`},
		{"a fence that does not end", "# A\n```\n# no\n", `a="# A\n` + "```\\n# no\\n" + `"`},
		{"code in a paragraph", "```x``` is code\n# A\n", `a="# A\n"`},
		{"a fence in a list", "1. x\n   ```\n   # no\n   ```\n# A\n", `a="# A\n"`},
		{"the same again", "# A\n# A\n# a\n# A-1\n", `a="# A\n" a-1="# A\n" a-2="# a\n" a-1-1="# A-1\n"`},
		{"a name that is taken", "# A-1\n# A\n# A\n", `a-1="# A-1\n" a="# A\n" a-2="# A\n"`},
		{"anchors", "# Fill in: *forms* & `pdftk`!\n# Größe_1 数据\n# [Link](x.md) here\n# !!!\n# ---\n",
			`fill-in-forms--pdftk="# Fill in: *forms* & ` + "`pdftk`" + `!\n" größe_1-数据="# Größe_1 数据\n" link-here="# [Link](x.md) here\n" section="# !!!\n" section-1="# ---\n"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, h := range Headings(tt.text) {
				got = append(got, fmt.Sprintf("%s=%q", h.Anchor, tt.text[h.Start:h.End]))
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("headings\n%s\nwant\n%s", text, tt.want)
			}
		})
	}
	t.Run("too many", func(t *testing.T) {
		all := Headings(strings.Repeat("## A\nx\n", 10*maxHeadings))
		if last := all[len(all)-1]; len(all) != maxHeadings || last.End-last.Start != len("## A\nx\n") {
			t.Errorf("%d headings, the last is %+v", len(all), last)
		}
	})
	t.Run("long", func(t *testing.T) {
		long := strings.Repeat("ä", maxHeading)
		all := Headings("# " + long + "\n# " + long + "!\n")
		if len(all) != 2 || len(all[1].Anchor) > maxHeading+2 || FindHeading(all, long) != 0 || FindHeading(all, all[1].Anchor) != 1 {
			t.Errorf("headings %+v", all)
		}
	})
}

func TestFindHeading(t *testing.T) {
	all := Headings("# Setup\n## Filling in *forms*\n# Setup\n# C#\n# Setup-1\n# Was_ist `x`?\n")
	for name, want := range map[string]int{
		"Setup": 0, "setup": 0, "SETUP": 0, " setup ": 0, "## Setup": 0, "setup-1": 2, "Setup-1": 4, "setup-1-1": 4,
		"filling in *FORMS*": 1, "filling-in-forms": 1, "Filling in forms": 1, "C#": 3, "c": 3,
		"was_ist x": 5, "": -1, "#": -1, "nothing": -1, "set": -1,
	} {
		if got := FindHeading(all, name); got != want {
			t.Errorf("%q is heading %d, want %d", name, got, want)
		}
	}
}

// FuzzHeadings checks that sections are parts of the text that begin with "#" and nest, and that
// each anchor is unique and finds its heading.
func FuzzHeadings(f *testing.F) {
	for _, text := range []string{"# A\n## B\n# A\n", "```\n# no\n```\n# A #\n", "#\n# \n## !\n", "# [a](b)\n# a-1\n# a\n", "# \xff\n~~~~\n# x\n", "# A\r\n\t# b\r## c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := Headings(text)
		if len(all) > maxHeadings {
			t.Fatalf("%d headings", len(all))
		}
		seen := map[string]bool{}
		for i, h := range all {
			section := text[h.Start:h.End]
			if !strings.HasPrefix(strings.TrimLeft(section, " "), "#") || h.Level < 1 || h.Level > 6 || seen[h.Anchor] || h.Anchor == "" {
				t.Errorf("heading %+v of %q", h, section)
			}
			if strings.ContainsAny(h.Anchor, "#./ ") || !utf8.ValidString(h.Anchor) || len(h.Anchor) > 4*maxHeading {
				t.Errorf("anchor %q", h.Anchor)
			}
			if seen[h.Anchor] = true; FindHeading(all, h.Anchor) != i {
				t.Errorf("anchor %q of heading %d finds %d", h.Anchor, i, FindHeading(all, h.Anchor))
			}
			if i > 0 && (all[i-1].Start >= h.Start || all[i-1].End > h.Start && all[i-1].End < h.End) {
				t.Errorf("sections %+v and %+v", all[i-1], h)
			}
		}
	})
}
