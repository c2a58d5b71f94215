package judging

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// wordEnd separates the words of a command when they are compared as one text. No word can
// contain it, so a space within a word never matches the end of a word.
const wordEnd = "\x00"

var errStars = fmt.Errorf("more than %d times *", maxStars)

// commandPattern is a pattern for commands: "git:*", "npm run *", "npm test", "npx *eas-cli@*". A
// "*" matches any text, also across words. ":*" and " *" at the end match any further words or
// none. Assignments in front, as in "GIT_PAGER=cat git *", only match commands with exactly these
// assignments.
type commandPattern struct {
	env   []string // the assignments, as NAME=value, sorted
	words []string
	parts []string // of all words as one text, split at each "*"
	tail  bool     // any further words may follow
}

func newCommandPattern(text string) (*commandPattern, error) {
	if strings.Count(text, "*") > maxStars {
		return nil, errStars
	}
	p := &commandPattern{}
	for {
		rest, colon := strings.CutSuffix(text, ":*")
		if !colon {
			var blank bool
			if rest, blank = strings.CutSuffix(text, " *"); !blank {
				break
			}
		}
		text, p.tail = strings.TrimRight(rest, " \t"), true
	}
	for _, w := range strings.Fields(text) {
		if len(p.words) == 0 && assignment.MatchString(w) {
			p.env = append(p.env, w)
			continue
		}
		p.words = append(p.words, trimDotSlash(w))
	}
	slices.Sort(p.env)
	p.parts = strings.Split(strings.Join(p.words, wordEnd), "*")
	return p, nil
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// allowsEnv reports whether the pattern has exactly these assignments. A value with characters
// that a shell would expand never matches, because the author may have meant the expanded value.
func (p *commandPattern) allowsEnv(env []string) bool {
	if len(p.env) != len(env) {
		return false
	}
	for i, e := range slices.Sorted(slices.Values(env)) {
		if e != p.env[i] || strings.ContainsAny(e, "$`*?~'\"\\") {
			return false
		}
	}
	return true
}

// trimDotSlash removes the "./" of a path: "./a/b" becomes "a/b". "./b" stays, because the shell
// looks up "b" on the PATH.
func trimDotSlash(word string) string {
	if rest, ok := strings.CutPrefix(word, "./"); ok && strings.Contains(rest, "/") {
		return rest
	}
	return word
}

// argumentList holds the literal words of a command in the form in which they are compared.
type argumentList struct {
	args []string
	text string // all of them, wordEnd between
}

func newArgumentList(args []string) argumentList {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = trimDotSlash(a)
	}
	return argumentList{args, strings.Join(words, wordEnd)}
}

// matches compares a command in linear time. open reports that further words follow that are only
// known when the command runs.
func (p *commandPattern) matches(l argumentList, open bool) bool {
	if len(p.words) == 0 || len(l.args) == 0 || !p.matchesProgram(l.args[0]) || p.mayEscape(l.args) {
		return false
	}
	rest, ok := strings.CutPrefix(l.text, p.parts[0])
	if !ok {
		return false
	}
	last := len(p.parts) - 1
	if last == 0 {
		return p.mayEnd(rest, open)
	}
	for _, part := range p.parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	part := p.parts[last]
	switch {
	case part == "":
		return true
	case !p.tail:
		return !open && strings.HasSuffix(rest, part)
	}
	for i := strings.Index(rest, part); i >= 0; i = strings.Index(rest, part) {
		if rest = rest[i+len(part):]; p.mayEnd(rest, open) {
			return true
		}
	}
	return false
}

// mayEnd reports whether the command may continue with rest after the whole pattern.
func (p *commandPattern) mayEnd(rest string, open bool) bool {
	if p.tail {
		return rest == "" || strings.HasPrefix(rest, wordEnd)
	}
	return rest == "" && !open
}

// matchesProgram compares the name of the program alone. No "*" matches beyond it, and none
// matches a directory.
func (p *commandPattern) matchesProgram(name string) bool {
	if strings.ContainsAny(name, `/\`) && !strings.Contains(p.words[0], "/") {
		return false
	}
	return starMatches(p.words[0], trimDotSlash(name))
}

// mayEscape reports whether a word contains ".." while the pattern has a "*" in a path, as "node
// scripts/*" has. Such a word could leave the directory of the pattern.
func (p *commandPattern) mayEscape(args []string) bool {
	if !slices.ContainsFunc(p.words, func(w string) bool { return strings.Contains(w, "*") && strings.Contains(w, "/") }) {
		return false
	}
	return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(strings.Split(a, "/"), "..") })
}

// isLocal reports whether the pattern has a relative path. It then names a file in the folder of
// the skill whose list it is in.
func (p *commandPattern) isLocal() bool {
	return slices.ContainsFunc(p.words, func(w string) bool {
		return strings.Contains(w, "/") && !strings.Contains(w, "://") && w[0] != '/' && w[0] != '~'
	})
}
