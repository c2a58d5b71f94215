package lifetime

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/internal/text/search"
)

// Descriptions holds the descriptions of skills in the overview of a conversation. It finds the
// skills that a prompt is about. Its input is pinned for the conversation, so another replica
// finds the same skills. It is immutable.
type Descriptions struct {
	lines []string
	names []describedName  // in each line
	of    map[string][]int // the lines with a term, at most maxRare+1 of them
}

// describedName is the name of a skill, with its terms.
type describedName struct {
	text  string
	terms []string
}

// NewDescriptions reads an overview, which describes one skill a line.
func NewDescriptions(overview string) *Descriptions {
	d := &Descriptions{of: map[string][]int{}}
	for line := range strings.Lines(overview) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "<available_skills>") {
			continue
		}
		if line == "</available_skills>" {
			break // rules follow
		}
		at := len(d.lines)
		d.lines = append(d.lines, line)
		name, _ := cutName(line)
		d.names = append(d.names, describedName{name, search.Subjects(wordsOf(name))})
		for _, term := range search.Subjects(withoutTags(line)) {
			if known := d.of[term]; len(known) <= maxRare {
				d.of[term] = append(known, at)
			}
		}
	}
	return d
}

// Subject is a skill whose text is in view, with the terms by which prompts mention it.
type Subject struct {
	Name string
	// names are the rare terms of its name, and terms those of its description and of the
	// names of files in its body, both sorted.
	names, terms []string
}

// Subject returns the terms of a skill. body is the text of its SKILL.md, "" if only docs are in
// view.
func (d *Descriptions) Subject(name, body string) Subject {
	words := fileWords(body)
	if line := d.lineOf(name); line != "" {
		words = append(words, withoutTags(line))
	} else {
		words = append(words, body[:min(len(body), maxBeginning)])
	}
	return Subject{name, d.rare(wordsOf(name)), d.rare(strings.Join(words, "\n"))}
}

// rare returns the terms of a text that at most [maxRare] descriptions have, without vague ones.
func (d *Descriptions) rare(text string) []string {
	return slices.DeleteFunc(search.Subjects(text), d.isCommon)
}

func (d *Descriptions) isCommon(term string) bool { return len(d.of[term]) > maxRare || vague[term] }

// vague holds the terms of words that prompts about anything contain. They tell nothing of a skill,
// even if only one description has them.
var vague = func() map[string]bool {
	set := map[string]bool{}
	for _, term := range search.Subjects(`one two three once twice first second third last half both whole other another else same
		somebody anybody nobody everybody anyone everyone everything whatever whenever while near already again always never
		still soon later before after behind ago morning evening hour monday tuesday wednesday thursday friday saturday sunday
		us usual short easy hard keep put bring leave part bit lot point end case sort happen decide matter`) {
		set[term] = true
	}
	return set
}()

// Count returns how many skills are described.
func (d *Descriptions) Count() int { return len(d.lines) }

// Named returns the names of the skills that a prompt is about. It considers the described skills
// and those of inView. A prompt is about a skill if it contains a rare term of the skill's name. It
// is also about the skill with most of its rare terms; a term in a name counts twice.
func (d *Descriptions) Named(prompt string, inView []Subject) []string {
	terms := slices.DeleteFunc(search.Subjects(ends(prompt)), d.isCommon)
	if len(terms) == 0 {
		return nil
	}
	scores := d.scores(terms)
	most := 1
	for _, score := range scores {
		most = max(most, score)
	}
	var named []string
	for _, s := range inView {
		if common(terms, s.names) > 0 || common(terms, s.terms) >= most {
			named = append(named, s.Name)
		}
	}
	for line, score := range scores {
		name := d.names[line]
		isNamed := score == most || slices.ContainsFunc(name.terms, func(term string) bool { _, has := slices.BinarySearch(terms, term); return has })
		if isNamed && !slices.Contains(named, name.text) && !slices.ContainsFunc(inView, func(s Subject) bool { return s.Name == name.text }) {
			named = append(named, name.text)
		}
	}
	slices.Sort(named)
	return named
}

// scores returns how many of the rare terms of a prompt each description has. Those in its name
// count twice.
func (d *Descriptions) scores(terms []string) map[int]int {
	scores := map[int]int{}
	for _, term := range terms {
		for _, line := range d.of[term] {
			scores[line]++
			if slices.Contains(d.names[line].terms, term) {
				scores[line]++
			}
		}
	}
	return scores
}

// common counts the terms that two sorted lists share.
func common(a, b []string) (n int) {
	for _, term := range a {
		if _, found := slices.BinarySearch(b, term); found {
			n++
		}
	}
	return n
}

// lineOf returns the line that describes a skill, "" for none.
func (d *Descriptions) lineOf(name string) string {
	name = prompttext.Escape(prompttext.Fold(name))
	for _, line := range d.lines {
		if _, rest := cutName(line); strings.HasPrefix(rest, name) && !startsWord(rest[len(name):]) {
			return line
		}
	}
	return ""
}

// cutName returns the name with which a line describes a skill, and the line from there on.
func cutName(line string) (name, rest string) {
	rest, isTagged := strings.CutPrefix(strings.TrimPrefix(line, "<skill>"), "<name>")
	if !isTagged {
		rest = strings.TrimLeft(line, "-* ")
	}
	end := 0
	for end < len(rest) && startsWord(rest[end:]) {
		_, size := utf8.DecodeRuneInString(rest[end:])
		end += size
	}
	return rest[:end], rest
}

// wordsOf parts the words of a name.
func wordsOf(name string) string {
	return strings.NewReplacer("-", " ", "_", " ", ":", " ", ".", " ").Replace(name)
}

// startsWord reports whether a text goes on with a character of a skill's name.
func startsWord(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' }) == 0
}

// withoutTags returns a line of an overview without its XML.
func withoutTags(line string) string {
	var b strings.Builder
	for line != "" {
		text, rest, _ := strings.Cut(line, "<")
		b.WriteString(text)
		b.WriteByte(' ')
		_, line, _ = strings.Cut(rest, ">")
	}
	return b.String()
}

// fileWords returns the words in the file names that a body mentions.
func fileWords(body string) []string {
	var words []string
	isFile := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-/", r)
	}
	for word := range strings.FieldsFuncSeq(body[:min(len(body), maxBody)], func(r rune) bool { return !isFile(r) }) {
		name := path.Base(strings.Trim(word, ".-_/"))
		ext := path.Ext(name)
		if len(ext) < 3 || len(ext) > 6 || strings.ContainsFunc(ext[1:], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			continue
		}
		if isDomain[ext] {
			continue
		}
		name = strings.TrimSuffix(name, ext)
		words = append(words, wordsOf(name))
		if !isOfSkills[ext] {
			words = append(words, ext[1:])
		}
	}
	return words
}

// isOfSkills has the extensions of files that skills of all kinds contain. They do not tell one
// skill from another.
var isOfSkills = map[string]bool{".md": true, ".py": true, ".sh": true, ".js": true, ".ts": true, ".txt": true, ".json": true, ".yaml": true, ".yml": true}

// isDomain has the last parts of host names, which are no file extensions.
var isDomain = map[string]bool{".com": true, ".org": true, ".net": true, ".dev": true, ".app": true, ".gov": true, ".edu": true}

// ends returns a prompt, or the beginning and the end of a long one. A user writes the question
// before or after pasted text.
func ends(prompt string) string {
	if len(prompt) <= 2*maxPromptEnd {
		return prompt
	}
	return prompt[:maxPromptEnd] + " " + prompt[len(prompt)-maxPromptEnd:]
}
