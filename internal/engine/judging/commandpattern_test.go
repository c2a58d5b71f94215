package judging

import (
	"context"
	"slices"
	"strings"
	"testing"
)

func mustCommand(text string) *commandPattern {
	p, err := newCommandPattern(text)
	if err != nil {
		panic(err)
	}
	return p
}

func TestCommandPattern(t *testing.T) {
	for _, tt := range []struct {
		pattern   string
		yes, open []string // open: allowed even if unknown words follow
		no        []string
	}{
		{
			pattern: "git:*",
			open:    []string{"git", "git status", "git -c a b"},
			no:      []string{"github", "git-x", "./git", "/bin/git", "gi", "Git", "x git"},
		},
		{
			pattern: "npm run *",
			open:    []string{"npm run", "npm run test", "npm run a b"},
			no:      []string{"npm", "npm runx", "npm install", "npm  run", "run"},
		},
		{pattern: "npm run test:*", open: []string{"npm run test", "npm run test -- x"}, no: []string{"npm run test:unit", "npm run"}},
		{pattern: "npm test", yes: []string{"npm test"}, no: []string{"npm", "npm test x", "npm tests"}},
		{pattern: "git * *", open: []string{"git", "git a b"}, no: []string{"gits"}},
		{pattern: "ffmpeg*", open: []string{"ffmpeg", "ffmpeg -i x", "ffmpeg2 x"}, no: []string{"ffmpe", "ffmpeg/../rm x", "./ffmpeg"}},
		{
			pattern: "npx *eas-cli@*",
			open:    []string{"npx eas-cli@1", "npx --yes eas-cli@latest build", "npx eas-cli@"},
			no:      []string{"npx eas-cli", "npx", "eas-cli@1"},
		},
		{
			pattern: "node *scripts/list.js *",
			open:    []string{"node scripts/list.js", "node a/scripts/list.js x"},
			no:      []string{"node scripts/list.jsx", "node scripts/list", "node ../scripts/list.js", "deno scripts/list.js"},
		},
		{pattern: "node scripts/*", open: []string{"node scripts/a.js", "node scripts/a.js b"}, no: []string{"node scripts/../../a.js", "node a.js"}},
		{pattern: "node scripts/a.js:*", open: []string{"node scripts/a.js", "node ./scripts/a.js ../b"}, no: []string{"node a.js", "node scripts/a.jsx"}},
		{pattern: "./scripts/a.sh:*", open: []string{"./scripts/a.sh", "scripts/a.sh x"}, no: []string{"a.sh", "./a.sh", "x/scripts/a.sh"}},
		{pattern: "./a.sh", yes: []string{"./a.sh"}, no: []string{"a.sh", "./a.sh x"}},
		{pattern: "f*g:*", open: []string{"fog", "fg x"}, no: []string{"fake dog", "f/g"}},
		{pattern: "* --version", yes: []string{"git --version", "a b --version"}, no: []string{"git", "./x --version", "git --version x", "--version"}},
		{pattern: "a*b*c", yes: []string{"abc", "axbxc"}, no: []string{"ac", "acb", "abcd"}},
		{pattern: "", no: []string{"", "x"}},
	} {
		p := mustCommand(tt.pattern)
		check := func(commands []string, closed, open bool) {
			for _, c := range commands {
				args := strings.Split(c, " ")
				if p.matches(newArgumentList(args), false) != closed || p.matches(newArgumentList(args), true) != open {
					t.Errorf("%q and %q: %v, with unknown words %v", tt.pattern, c, p.matches(newArgumentList(args), false), p.matches(newArgumentList(args), true))
				}
			}
		}
		check(tt.open, true, true)
		check(tt.yes, true, false)
		check(tt.no, false, false)
	}
	// A blank within a word does not end the word.
	p := mustCommand("git status:*")
	if p.matches(newArgumentList([]string{"git status"}), false) || p.matches(newArgumentList([]string{"git", "status x"}), false) {
		t.Error("a word with a blank counts as two")
	}
}

func TestPatternsThatSet(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		env     string // the variables that the command sets, separated by blanks
		want    bool
	}{
		{"git *", "", true},
		{"git *", "A=1", false},
		{"A=1 git *", "A=1", true},
		{"A=1 git *", "", false},
		{"A=1 git *", "A=2", false},
		{"A=1 git *", "A=1 B=1", false},
		{"A=1 git *", "A=1 A=1", false},
		{"A=1 B= git *", "B= A=1", true},
		{"GIT_CONFIG_GLOBAL=/dev/null git *", "GIT_CONFIG_GLOBAL=/dev/null", true},
		// A value with $ or * is not a literal value, so it matches nothing.
		{"A=$B git *", "A=$B", false},
		{"A=* git *", "A=*", false},
		{"A='1' git *", "A='1'", false},
		{"A=~ git *", "A=~", false},
	} {
		p := mustCommand(tt.pattern)
		if got := p.allowsEnv(strings.Fields(tt.env)); got != tt.want || !p.matches(newArgumentList([]string{"git", "x"}), true) {
			t.Errorf("%q for %q: %v", tt.pattern, tt.env, got)
		}
	}
	if p := mustCommand("A=1:*"); p.matches(newArgumentList([]string{"git"}), false) || p.matches(newArgumentList([]string{"A=1"}), false) {
		t.Error("a pattern without a program is for one")
	}
	if p := mustCommand("git A=1"); !p.allowsEnv(nil) || !p.matches(newArgumentList([]string{"git", "A=1"}), false) {
		t.Error("a word behind the program is an assignment")
	}
}

func TestIsLocal(t *testing.T) {
	for pattern, want := range map[string]bool{
		"git:*": false, "python3 scripts/x.py:*": true, "./x.sh": true, "/usr/bin/x:*": false, "~/x:*": false,
		"curl https://example.com/*": false, "node *x/list.js *": true,
	} {
		if p := mustCommand(pattern); p.isLocal() != want {
			t.Errorf("%q: want %v", pattern, want)
		}
	}
}

func TestMatchPath(t *testing.T) {
	const home = "/home/ann"
	for _, tt := range []struct {
		pattern string
		yes, no []string
	}{
		{"~/.cache/x/**", []string{"~/.cache/x/a", "/home/ann/.cache/x/a/b", "/home/ann/.cache/y/../x/a"},
			[]string{"~/.cache/y", "~/.cache/x/../../.ssh/id", "/home/bob/.cache/x/a", ".cache/x/a"}},
		{"docs/**", []string{"docs/a", "./docs/a/b", "docs//a"}, []string{"docs/../a", "/docs/a", "../docs/a", "x/docs/a", "", "..", "docs\\..\\a"}},
		{"./docs/*.md", []string{"docs/a.md"}, []string{"docs/a/b.md", "docs/a.txt"}},
		{"**", []string{"a", "a/b"}, []string{"/a", "../a", ".."}},
		{"//etc/*", []string{"/etc/hosts", "//etc/hosts"}, []string{"etc/hosts", "/etc/a/b"}},
		{"/etc/**", []string{"/etc/a/b"}, []string{"/etc/../root/x", "/etcx"}},
		{"[", nil, []string{"[", "a"}},
	} {
		for _, p := range tt.yes {
			if !matchesPath(tt.pattern, p, home) {
				t.Errorf("%q is not for %q", tt.pattern, p)
			}
		}
		for _, p := range tt.no {
			if matchesPath(tt.pattern, p, home) {
				t.Errorf("%q is for %q", tt.pattern, p)
			}
		}
	}
}

func TestMatchText(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		yes, no []string
	}{
		{"a:b, c:d", []string{"a:b", "c:d"}, []string{"a:b, c:d", "a", ""}},
		{"team:*", []string{"team:x"}, []string{"teams"}},
		{"domain:example.com", []string{"https://example.com/a", "http://docs.Example.com:80"}, []string{
			"https://example.com.evil.net", "https://evil.net/example.com", "https://example.com@evil.net", "ftp://example.com",
			"https://evil.net\\@example.com", "example.com", "https://badexample.com", "",
		}},
		{"domain:", nil, []string{"https://example.com", "domain:"}},
	} {
		for _, text := range slices.Concat(tt.yes, tt.no) {
			if want := slices.Contains(tt.yes, text); textMatches(tt.pattern, text, newMeter(context.Background())) != want {
				t.Errorf("%q and %q: want %v", tt.pattern, text, want)
			}
		}
	}
}
