package permission

import (
	"regexp"
	"slices"
	"strings"
)

// The words of a command are compared as one text, in which this byte, which no
// word can hold, stands between them. So a blank in a pattern is an end of a
// word, and a blank inside of a word is not.
const between = "\x00"

// commandPattern is the pattern of an entry about commands.
type commandPattern struct {
	// env are the assignments in front, as NAME=value, sorted.
	env   []string
	words []string
	parts []string // of all words, at each "*"
	// tail: any further words may follow.
	tail bool
}

// newCommandPattern reads "git:*", "npm run *", "npx *eas-cli@*" or "npm test".
// A "*" stands for any text, further words included. ":*" and " *" at the end
// stand for any further words or none. Assignments in front, as in
// "GIT_PAGER=cat git *", are for commands with just these, to these very values.
func newCommandPattern(text string) commandPattern {
	var p commandPattern
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
	p.parts = strings.Split(strings.Join(p.words, between), "*")
	return p
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// sets reports whether a pattern is for commands with these assignments. One
// whose values an author can have meant to be expanded is for none.
func (p *commandPattern) sets(env []string) bool {
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

// samePath leaves out the "./" of a path: "./a/b" is "a/b", but "./b" is not
// "b", which is looked for on the PATH.
func samePath(word string) string {
	if rest, ok := strings.CutPrefix(word, "./"); ok && strings.Contains(rest, "/") {
		return rest
	}
	return word
}

// matches compares a command's literal words; open says that further words
// follow which are not known.
func (p *commandPattern) matches(args []string, open bool) bool {
	if len(p.words) == 0 || len(args) == 0 || !p.program(args[0]) || p.leaves(args) {
		return false
	}
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = samePath(a)
	}
	rest, ok := strings.CutPrefix(strings.Join(words, between), p.parts[0])
	if !ok {
		return false
	}
	last := len(p.parts) - 1
	if last == 0 {
		return p.ends(rest, open)
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
		if rest = rest[i+len(part):]; p.ends(rest, open) {
			return true
		}
	}
	return false
}

// ends reports whether a command may go on with rest after all of the pattern.
func (p *commandPattern) ends(rest string, open bool) bool {
	if p.tail {
		return rest == "" || strings.HasPrefix(rest, between)
	}
	return rest == "" && !open
}

// program compares the name of the program by itself: no "*" reaches beyond it,
// and none stands for a directory.
func (p *commandPattern) program(name string) bool {
	if strings.ContainsAny(name, `/\`) && !strings.Contains(p.words[0], "/") {
		return false
	}
	return glob(p.words[0], samePath(name))
}

// leaves reports a word that climbs out of the directory that a pattern such as
// "node scripts/*" names.
func (p *commandPattern) leaves(args []string) bool {
	climbs := false
	for _, w := range p.words {
		climbs = climbs || strings.Contains(w, "*") && strings.Contains(w, "/")
	}
	if !climbs {
		return false
	}
	for _, a := range args {
		for element := range strings.SplitSeq(a, "/") {
			if element == ".." {
				return true
			}
		}
	}
	return false
}

// local reports a pattern that names a file by a relative path: it is about the
// folder of the skill whose list it is in.
func (p *commandPattern) local() bool {
	for _, w := range p.words {
		if strings.Contains(w, "/") && !strings.Contains(w, "://") && w[0] != '/' && w[0] != '~' {
			return true
		}
	}
	return false
}

// glob compares a text with a pattern in which "*" stands for any text.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	rest, ok := strings.CutPrefix(text, parts[0])
	if last == 0 || !ok {
		return ok && rest == ""
	}
	for _, part := range parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}
