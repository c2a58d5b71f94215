package judging

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// wordEnd stands between the words of a command when they are compared as one
// text. No word can hold it, so a blank inside of a word is never taken for the
// end of one.
const wordEnd = "\x00"

var errStars = fmt.Errorf("more than %d times *", maxStars)

// commandPattern is a pattern about commands: "git:*", "npm run *", "npm test", "npx
// *eas-cli@*". A "*" stands for any text, further words included. ":*" and " *" at the end
// stand for any further words or none. With assignments in front, as in "GIT_PAGER=cat git *",
// it is about commands with just these assignments, of these very values.
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
		p.words = append(p.words, samePath(w))
	}
	slices.Sort(p.env)
	p.parts = strings.Split(strings.Join(p.words, wordEnd), "*")
	return p, nil
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// allowsEnv reports whether the pattern is about commands with these assignments.
// A value with characters that a shell would expand is never equal: the author
// may have meant what it expands to.
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

// samePath drops the "./" of a path: "./a/b" is "a/b". But "./b" is not "b",
// which is looked up on the PATH.
func samePath(word string) string {
	if rest, ok := strings.CutPrefix(word, "./"); ok && strings.Contains(rest, "/") {
		return rest
	}
	return word
}

// argumentList is the literal words of a command, ready to be compared.
type argumentList struct {
	args []string
	text string // all of them, wordEnd between
}

func newArgumentList(args []string) argumentList {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = samePath(a)
	}
	return argumentList{args, strings.Join(words, wordEnd)}
}

// matches compares a command; open says that words follow which are known only
// when it runs. The time is linear.
func (p *commandPattern) matches(l argumentList, open bool) bool {
	if len(p.words) == 0 || len(l.args) == 0 || !p.program(l.args[0]) || p.climbs(l.args) {
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

// mayEnd reports whether rest may follow behind all of the pattern.
func (p *commandPattern) mayEnd(rest string, open bool) bool {
	if p.tail {
		return rest == "" || strings.HasPrefix(rest, wordEnd)
	}
	return rest == "" && !open
}

// program compares the name of the program by itself: no "*" reaches beyond it,
// and none stands for a directory.
func (p *commandPattern) program(name string) bool {
	if strings.ContainsAny(name, `/\`) && !strings.Contains(p.words[0], "/") {
		return false
	}
	return starMatches(p.words[0], samePath(name))
}

// climbs reports a word with ".." where the pattern has a "*" in a path, as
// "node scripts/*" has: such a word may leave the directory that it names.
func (p *commandPattern) climbs(args []string) bool {
	if !slices.ContainsFunc(p.words, func(w string) bool { return strings.Contains(w, "*") && strings.Contains(w, "/") }) {
		return false
	}
	return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(strings.Split(a, "/"), "..") })
}

// isLocal reports a pattern that names a file by a relative path. It is about the
// folder of the skill whose list it is in.
func (p *commandPattern) isLocal() bool {
	return slices.ContainsFunc(p.words, func(w string) bool {
		return strings.Contains(w, "/") && !strings.Contains(w, "://") && w[0] != '/' && w[0] != '~'
	})
}
