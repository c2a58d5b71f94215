package skillmd

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/internal/text/printable"
)

// The codes of what [Document.Advise] finds.
const (
	codeNameReserved      Code = "name-reserved"      // a part of the name is the name of a vendor or its product.
	codeNameGerund        Code = "name-gerund"        // the name does not begin with what the skill does, as in processing-pdfs.
	codeXMLTag            Code = "xml-tag"            // the name or the description holds an XML tag.
	codeDescriptionPerson Code = "description-person" // the description says I, you or we.
	codeDescriptionWhen   Code = "description-when"   // the description does not say when to use the skill.
	codeVersion           Code = "version-not-semver" // the version is not one of semantic versioning.
	codeToolsDangerous    Code = "tools-dangerous"    // allowed-tools holds a pair that can write code and run it.
	codeSecret            Code = "secret-literal"     // the file holds what looks like a key.
	codeCommand           Code = "command-not-run"    // the body holds a command behind "!", which other programs run.
	codeContext           Code = "context-unknown"    // the field context looks like fork and is not.
	codeFileStyle         Code = "file-name-style"    // the name of a file is not written as usual for its kind.
)

var (
	xmlTag     = regexp.MustCompile(`</?[A-Za-z][^<>]*>`)
	person     = regexp.MustCompile(`(?i)(?:^|[^\pL\pN_'’-])(I|I'm|you|your|we|our)(?:$|[^\pL\pN_-])`)
	whenWords  = regexp.MustCompile(`(?i)\b(when|whenever|if|use|used|uses|using|for|trigger|triggers)\b`)
	semver     = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	secrets    = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bsk-[A-Za-z0-9_-]{20,}|\bxox[abeprs]-[A-Za-z0-9-]{10,}`)
	kebabFile  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	snakeFile  = regexp.MustCompile(`^_*[a-z0-9]+(_[a-z0-9]+)*_*$`)
	camelFile  = regexp.MustCompile(`^[a-z][A-Za-z0-9]*(\.[a-z]+)*$`)
	allCaps    = regexp.MustCompile(`^[A-Z0-9_-]+$`)
	toolName   = regexp.MustCompile(`^[A-Za-z]+`)
	toolsPairs = [][2]string{{"Bash", "Write"}, {"WebFetch", "Bash"}, {"Edit", "Bash"}}
)

// Advise returns findings about what is unusual in a skill. None of them keeps the skill from
// being used. text is the file that doc was read from, and files are the paths of the skill's
// files. The findings never quote an API key. Only findings about files have the field File.
func (doc *Document) Advise(text []byte, files ...string) []Diagnostic {
	var all []Diagnostic
	warn := func(line int, code Code, format string, args ...any) {
		all = append(all, Diagnostic{Line: line, Code: code, Severity: Warning, Message: fmt.Sprintf(format, args...)})
	}
	s := &doc.Skill
	parts := strings.FieldsFunc(strings.ToLower(s.Name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, word := range []string{"anthropic", "claude"} {
		if slices.Contains(parts, word) {
			warn(0, codeNameReserved, "the name holds the reserved word %q", word)
		}
	}
	if len(parts) > 0 && !strings.HasSuffix(parts[0], "ing") {
		all = append(all, Diagnostic{Code: codeNameGerund, Severity: Info, Message: "names often begin with what the skill does, such as processing-pdfs"})
	}
	if xmlTag.MatchString(s.Name) || xmlTag.MatchString(s.Description) {
		warn(0, codeXMLTag, "the name or the description holds an XML tag")
	}
	if m := person.FindStringSubmatch(s.Description); m != nil {
		warn(0, codeDescriptionPerson, "the description says %q; write in the third person", m[1])
	}
	if s.Description != "" && !whenWords.MatchString(s.Description) {
		warn(0, codeDescriptionWhen, "the description does not say when to use the skill")
	}
	if v := doc.Version(); v != "" && !semver.MatchString(v) {
		warn(0, codeVersion, "the version %.40q is not one of semantic versioning, such as 1.0.0", v)
	}
	if value := doc.unknownFork(); value != "" {
		warn(0, codeContext, "context %.40q has no effect; fork and fork_with_context run a skill as an agent of its own", value)
	}
	var tools []string
	for _, t := range s.AllowedTools {
		tools = append(tools, toolName.FindString(t))
	}
	for _, pair := range toolsPairs {
		if slices.Contains(tools, pair[0]) && slices.Contains(tools, pair[1]) {
			warn(0, codeToolsDangerous, "%s and %s together can bring code and run it", pair[0], pair[1])
		}
	}
	all = append(all, adviseSecrets(text)...)
	all = append(all, adviseCommands(doc.Body, doc.BodyLine)...)
	for _, file := range files {
		all = append(all, adviseFile(file)...)
	}
	return all
}

// unknownFork returns the value of the field context if it begins with "fork" but has no
// effect, such as Fork or [fork].
func (doc *Document) unknownFork() string {
	n := doc.Extra["context"]
	values := []string{doc.Field("context")}
	for _, part := range n.Content {
		values = append(values, part.Value)
	}
	for _, value := range values {
		isKnown := n.Kind == yaml.ScalarNode && (value == "fork" || value == "fork_with_context")
		if !isKnown && strings.HasPrefix(strings.ToLower(value), "fork") {
			return printable.Replaced(value)
		}
	}
	return ""
}

// adviseSecrets returns a finding for each line that holds what looks like a key.
func adviseSecrets(text []byte) (all []Diagnostic) {
	line, from := 1, 0
	for _, at := range secrets.FindAllIndex(text, maxSecrets) {
		line += strings.Count(string(text[from:at[0]]), "\n")
		from = at[0]
		all = append(all, Diagnostic{Line: line, Code: codeSecret, Severity: Warning, Message: "this line holds what looks like a key; keep it out of the skill"})
	}
	return all
}

// adviseFile returns a finding if the name of a file is not written as usual: Markdown in
// kebab-case, Python in snake_case, JavaScript in camelCase. file is a path in the skill.
func adviseFile(file string) []Diagnostic {
	base := path.Base(file)
	stem, ext := strings.TrimSuffix(base, path.Ext(base)), path.Ext(base)
	style, want := (*regexp.Regexp)(nil), ""
	switch strings.ToLower(ext) {
	case ".md":
		style, want = kebabFile, "kebab-case, such as reference-guide.md"
	case ".py":
		style, want = snakeFile, "snake_case, such as process_data.py"
	case ".js":
		style, want = camelFile, "camelCase, such as processData.js"
	}
	if style == nil || style.MatchString(stem) || allCaps.MatchString(stem) {
		return nil
	}
	return []Diagnostic{{File: file, Code: codeFileStyle, Severity: Warning, Message: "files of this kind are usually named in " + want}}
}
