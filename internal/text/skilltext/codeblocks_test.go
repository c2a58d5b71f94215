package skilltext

import (
	"strings"
	"testing"
	"time"
)

// proseOf returns the prose of a text with "|" between its lines.
func proseOf(text string) string {
	var lines []string
	for _, line := range Prose(text) {
		lines = append(lines, line)
	}
	return strings.Join(lines, "|")
}

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"a\n```\nx\n```\nb":                      "a|b",
		"~~~~\nx\n~~~\ny\n~~~~ \nb":              "b",
		"```a`b\nx":                              "```a`b|x",
		"a\n\n    x\n\nb":                        "a|||b",
		"a\n    b":                               "a|    b",
		"\tx\nb":                                 "b",
		"> a\n> ```\n> x\n> ```\n> b":            "> a|> b",
		"> ```\n> x\nb":                          "b",
		">     x\n> b":                           "> b",
		">\tb":                                   ">\tb",
		">\t\tx":                                 "",
		"> > ~~~\n> > x\n> > ~~~\n> b":           "> b",
		"> a\n    b":                             "> a|    b",
		"> a\n>     b":                           "> a|>     b",
		"- ```\n  x\n  ```\n  b":                 "  b",
		"- ```\n  x\nb":                          "b",
		"1. ```\n   x\n\n   x\n   ```\nb":        "b",
		"* a\n\n  ~~~\n  x\n  ~~~\n\n  b":        "* a|||  b",
		"- a\n\n    b":                           "- a||    b",
		"- a\n\n      x":                         "- a|",
		"10. a\n\n    b\n\n        x":            "10. a||    b|",
		"- a\n\n\tb":                             "- a||\tb",
		"-     x\n- b":                           "- b",
		"- - a\n\n        x\n\n    b":            "- - a|||    b",
		"> - ```\n>   x\n>   ```\n> b":           "> b",
		"- > ```\n  > x\n  b":                    "  b",
		"a\n2. b\n    c":                         "a|2. b|    c",
		"a\n1. b\n\n    c":                       "a|1. b||    c",
		"* * *\n    x":                           "* * *",
		"# a\n    x":                             "# a",
		"-\n  b":                                 "-|  b",
		"-a\n\n    x":                            "-a|",
		"<pre>\nx\n\nx\n</pre>\nb":               "<pre>|</pre>|b",
		"> <pre>\n> x\n\nb":                      "> <pre>||b",
		"<pre>\nx":                               "<pre>",
		"a <pre>\nb":                             "a <pre>|b",
		"a <code>\nx\n</code> b":                 "a <code>|</code> b",
		"a <CODE class=\"x\">\nx\n</Code>":       "a <CODE class=\"x\">|</Code>",
		"a <code>x</code> b\nc":                  "a <code>x</code> b|c",
		"a <code>\nb":                            "a <code>|b",
		"a `<code>`\nb\n</code>":                 "a `<code>`|b|</code>",
		"a \\<code>\nb\n</code>":                 "a \\<code>|b|</code>",
		"a <codex>\nb\n</codex>":                 "a <codex>|b|</codex>",
		"<code>\n```\nx\n```\n\n</code>\n```\nx": "<code>|</code>",
		"a\r\n> ```\r\n> x\r\n> ```\r\nb\r\n":    "a|b",
		"":                                       "",
	} {
		if got := proseOf(text); got != want {
			t.Errorf("%q has the prose %q, want %q", text, got, want)
		}
	}
}

func TestProseNumbersLines(t *testing.T) {
	var numbers []int
	for n := range Prose("a\n```\nx\n```\nb") {
		numbers = append(numbers, n)
	}
	if len(numbers) != 2 || numbers[1] != 4 {
		t.Errorf("lines %v, want 0 and 4", numbers)
	}
	for range Prose("a\nb") {
		break // the loop may end early
	}
}

// TestProseOfHostileText: the time grows with the length of a text, not with its square.
func TestProseOfHostileText(t *testing.T) {
	const size = 1 << 20
	for _, part := range []string{
		">", "> ", "- ", "-\n", "1. ", "`", "` ``", "<code>", "<code", "<code>\n", "<pre>", "</code>", "</", "\\", "> <pre>\n", "> - ", "\t", "  \n", "* ", "- a\n\n",
	} {
		begin := time.Now()
		for line := range Prose(strings.Repeat(part, size/len(part))) {
			_ = line
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("1 MiB of %q takes %v", part, took)
		}
	}
}

func FuzzProse(f *testing.F) {
	for _, text := range []string{"> ```\n> x", "- a\n\n    b", "1. ~~~\n   x", "> > a\nb", "<pre>\nx</pre>", "a <code>\n> x\n</code>", "-\t\tx", "> - 1) `a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		last := -1
		for n, prose := range Prose(text) {
			if n <= last || n >= len(lines) || !strings.Contains(lines[n], prose) {
				t.Fatalf("line %d of %q: %q after line %d", n, text, prose, last)
			}
			last = n
		}
		if strings.ContainsAny(text, "`~\r") {
			return
		}
		quoted := "> " + strings.ReplaceAll(text, "\n", "\n> ")
		for _, code := range []string{"```\n" + text + "\n```", "> ```\n" + quoted + "\n> ```", "- ```\n  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n  ```"} {
			if got := proseOf(code); got != "" {
				t.Fatalf("%q has the prose %q", code, got)
			}
		}
	})
}
