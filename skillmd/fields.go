package skillmd

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// requiredFields says which required fields the front matter has, even with unusable values.
type requiredFields struct{ name, description bool }

// apply puts the fields into the document. A wrong field never affects another one.
func (p *parser) apply(fs []field) {
	for _, f := range fs {
		f.key = strings.ReplaceAll(f.key, string(controlMark), "\uFFFD")
		if f.key == "description" || f.key == "short_description" {
			unmark(f.value, " ")
		} else {
			unmark(f.value, "\uFFFD")
		}
		switch f.key {
		case "name":
			p.name(f)
		case "description":
			p.description(f)
		case "license":
			p.doc.Skill.License = p.optional(f, codeLicenseType)
		case "compatibility":
			p.compatibility(f)
		case "metadata":
			p.metadata(f)
		case "allowed-tools":
			p.allowedTools(f)
		default:
			p.other(f)
		}
	}
}

// scalar returns the text of a scalar as it was written; null is "". ok is false
// for lists, maps and values that could not be read.
func scalar(n *yaml.Node) (text string, ok bool) {
	if n == nil || n.Kind != yaml.ScalarNode {
		return "", false
	}
	if n.Tag == "!!null" {
		return "", true
	}
	return n.Value, true
}

func (p *parser) name(f field) {
	p.nameLine = f.line
	text, ok := scalar(f.value)
	if !ok {
		p.present.name = true
		p.report(must, f.line, codeNameType, "name is not text")
		return
	}
	p.doc.Skill.Name = p.printableName(p.cleanValue(text, "name", f.line))
}

// printableName replaces characters that would disturb a line of a prompt or of a terminal.
// If there are any, checkName hides the skill from the model. Such a name is a trick or an
// accident, and no model can write it.
func (p *parser) printableName(name string) string {
	if !isUnprintable(name) {
		return name
	}
	p.hasUnprintableName = true
	return printable.Replaced(name)
}

// checkName checks the name, and takes a missing one from the directory. It runs after all
// fields were read.
func (p *parser) checkName() {
	s := &p.doc.Skill
	line := p.nameLine
	if s.Name == "" {
		dir := p.printableName(p.cleanValue(p.dir, "directory name", 0))
		if p.mode != Lenient || dir == "" {
			if !p.present.name || p.mode == Lenient {
				p.report(fatal, line, codeNameMissing, "name is missing")
			}
			return
		}
		p.report(oddity, line, codeNameMissing, "name is missing; the directory's name %s stands in", skilltext.Quote(dir))
		s.Name, s.Repaired = dir, true
	}
	if p.hasUnprintableName {
		s.Hidden = true
		p.report(must, line, codeNameUnprintable, "name holds control or invisible characters: the skill is hidden from the model")
	}
	for _, problem := range skilltext.NameProblems(s.Name) {
		p.report(must, line, Code(problem.Code), "%s", problem.Message)
	}
	if p.dir != "" && skilltext.CleanName(p.dir) != skilltext.CleanName(s.Name) {
		p.report(must, line, codeNameMismatch, "name %s differs from its directory %s", skilltext.Quote(s.Name), skilltext.Quote(p.dir))
	}
}

func (p *parser) description(f field) {
	p.present.description = true
	text, ok := scalar(f.value)
	if !ok {
		p.report(fatal, f.line, codeDescriptionType, "description is not text")
		return
	}
	d := strings.TrimSpace(text)
	if d == "" {
		p.report(fatal, f.line, codeDescriptionMissing, "description is blank")
		return
	}
	// skills-ref counts the blanks around the text too. The specification says nothing about
	// them.
	counted := d
	if p.mode == SkillsRef {
		counted = text
	}
	if len(counted) > maxDescription {
		if n := utf8.RuneCountInString(counted); n > maxDescription {
			p.report(must, f.line, codeDescriptionTooLong, "%s", skilltext.TooLong("description", n, maxDescription))
		}
	}
	if strings.ContainsFunc(d, isControl) {
		p.report(must, f.line, codeControl, "control characters in %s are replaced", skilltext.Quote(f.key))
	}
	if printable.HasInvisible(d) {
		p.report(oddity, f.line, codeInvisible, "description holds invisible characters, which are taken out")
	}
	if d = strings.TrimSpace(printable.Visible(d)); d == "" {
		p.report(fatal, f.line, codeDescriptionMissing, "description is blank")
		return
	}
	p.doc.Skill.Description = d
}

// shortDescription uses short_description as the description, because some skill servers
// write it. It does so in the Lenient mode only, and reports whether it did.
func (p *parser) shortDescription() bool {
	node, ok := p.doc.Extra["short_description"]
	if !ok || p.mode != Lenient {
		return false
	}
	text, ok := scalar(&node)
	if !ok || strings.TrimSpace(text) == "" {
		return false
	}
	p.report(note, node.Line, codeShortDescription, "short_description stands in for the description")
	p.description(field{key: "description", line: node.Line, value: &node})
	return true
}

// optional reads an optional text field. A list of scalars is joined, because
// authors write lists where the specification wants a sentence.
func (p *parser) optional(f field, code Code) string {
	if text, ok := scalar(f.value); ok {
		return p.cleanValue(text, f.key, f.line)
	}
	if f.value == nil { // vet has refused and reported it
		return ""
	}
	p.report(must, f.line, code, "%s is not text", f.key)
	if f.value.Kind != yaml.SequenceNode {
		return ""
	}
	items := make([]string, 0, len(f.value.Content))
	for _, c := range f.value.Content {
		if text, ok := scalar(c); ok && text != "" {
			items = append(items, text)
		}
	}
	return p.cleanValue(strings.Join(items, ", "), f.key, f.line)
}

func (p *parser) compatibility(f field) {
	text := p.optional(f, codeCompatibilityType)
	n := utf8.RuneCountInString(text)
	switch {
	case n > maxCompatibility:
		p.report(must, f.line, codeCompatibilityTooLong, "%s", skilltext.TooLong("compatibility", n, maxCompatibility))
	case n == 0 && f.value != nil && f.value.Kind == yaml.ScalarNode:
		p.report(must, f.line, codeCompatibilityEmpty, "compatibility is empty; leave it out or say what is required")
	}
	p.doc.Skill.Compatibility = text
}

// allowedTools reads a string or a list. A value that cannot be read becomes a list
// that allows nothing; ignoring it would allow everything.
func (p *parser) allowedTools(f field) {
	tokens := []string{}
	if text, ok := scalar(f.value); ok {
		var balanced bool
		if tokens, balanced = skilltext.SplitTools(p.cleanValue(text, f.key, f.line)); !balanced {
			p.report(oddity, f.line, codeToolsParens, "parentheses in allowed-tools do not match")
		}
		p.doc.Skill.AllowedTools = tokens
		return
	}
	if f.value == nil || f.value.Kind != yaml.SequenceNode {
		p.report(must, f.line, codeToolsType, "allowed-tools is neither text nor a list; it allows nothing")
		p.doc.Skill.AllowedTools = tokens
		return
	}
	for _, c := range f.value.Content {
		text, ok := scalar(c)
		if text = p.cleanValue(text, f.key, c.Line); !ok || text == "" {
			p.report(must, c.Line, codeToolsType, "item of allowed-tools is not text and is ignored")
			continue
		}
		// An item is one token: "Azure MCP/documentation" names one tool.
		tokens = append(tokens, text)
	}
	p.doc.Skill.AllowedTools = tokens
}

// flatKey returns a key in lower case without "_" and "-".
func flatKey(key string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
}

// disallowedTools reads a string or a list. A value that cannot be read denies nothing.
func (p *parser) disallowedTools(f field) {
	if text, ok := scalar(f.value); ok {
		p.doc.Skill.DisallowedTools, _ = skilltext.SplitTools(p.cleanValue(text, f.key, f.line))
		return
	}
	if f.value == nil || f.value.Kind != yaml.SequenceNode {
		p.report(oddity, f.line, codeToolsType, "%s is neither text nor a list; it denies nothing", f.key)
		return
	}
	for _, c := range f.value.Content {
		text, ok := scalar(c)
		if text = p.cleanValue(text, f.key, c.Line); !ok || text == "" {
			p.report(oddity, c.Line, codeToolsType, "item of %s is not text and is ignored", f.key)
			continue
		}
		p.doc.Skill.DisallowedTools = append(p.doc.Skill.DisallowedTools, text)
	}
}

// joined returns a text, or the texts of a list with "; " between them.
func (p *parser) joined(f field) string {
	if text, ok := scalar(f.value); ok {
		return p.cleanValue(text, f.key, f.line)
	}
	if f.value == nil || f.value.Kind != yaml.SequenceNode {
		return ""
	}
	var items []string
	for _, c := range f.value.Content {
		if text, ok := scalar(c); ok && text != "" {
			items = append(items, p.cleanValue(text, f.key, c.Line))
		}
	}
	return strings.Join(items, "; ")
}

// addWhenToUse appends when_to_use to the description, unless that ends with it.
func (p *parser) addWhenToUse() {
	s := &p.doc.Skill
	text := strings.TrimSpace(printable.Visible(p.whenToUse))
	if text != "" && s.Description != "" && !strings.HasSuffix(s.Description, text) {
		s.Description += " " + text
	}
}

// other handles the fields that the specification does not define: the control
// flags, and the fields that Extra keeps for the host.
func (p *parser) other(f field) {
	p.report(ref, f.line, codeUnknownField, "field %s is not in the specification", skilltext.Quote(f.key))
	switch flatKey(f.key) {
	case "disallowedtools":
		p.disallowedTools(f)
	case "whentouse":
		p.whenToUse = p.joined(f)
	}
	switch flagOf(f.key) {
	case flagHidden:
		p.doc.Skill.Hidden = p.flag(f, false) || p.doc.Skill.Hidden
		return
	case flagInvocable:
		p.doc.UserInvocable = p.flag(f, true) && p.doc.UserInvocable
		return
	}
	switch {
	case f.key == "arguments":
		p.checkArguments(f)
	case flatKey(f.key) == "allowedtools":
		p.report(oddity, f.line, codeToolsSpelling, "%s is not read; write allowed-tools", skilltext.Quote(f.key))
	case strings.ContainsAny(f.key, " \t\n"):
		p.report(oddity, f.line, codeSuspiciousKey, "key %s holds white space; it is probably part of the value above", skilltext.Quote(f.key))
	}
	if f.value == nil {
		return
	}
	if p.doc.Extra == nil {
		p.doc.Extra = make(map[string]yaml.Node)
	}
	p.doc.Extra[f.key] = *f.value
}

// Arguments returns the first 64 names of the field arguments in their order, nil if there are none. The
// field is a list, or a text of words. An item may be a map with a name. Names that cannot be
// placeholders keep their place.
func (doc *Document) Arguments() []string {
	n, ok := doc.Extra["arguments"]
	if !ok {
		return nil
	}
	names, _, _ := argumentNames(&n)
	return names
}

// ArgumentHint returns the field argument-hint on one line.
func (doc *Document) ArgumentHint() string {
	n, ok := doc.Extra["argument-hint"]
	if !ok {
		return ""
	}
	hint := ""
	switch n.Kind {
	case yaml.ScalarNode:
		hint, _ = scalar(&n)
	case yaml.SequenceNode: // brackets without quotes, as in [file]
		var items []string
		for _, item := range n.Content {
			if text, ok := scalar(item); ok {
				items = append(items, text)
			}
		}
		hint = "[" + strings.Join(items, ", ") + "]"
	}
	runes := []rune(printable.Replaced(strings.Join(strings.Fields(hint), " ")))
	return string(runes[:min(len(runes), maxHint)])
}
