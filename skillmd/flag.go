package skillmd

import (
	"bytes"
	"strings"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

type flagKind uint8

const (
	flagNone flagKind = iota
	flagHidden
	flagInvocable
)

// flagOf recognises the control flags, also with "_" instead of "-" and with a
// misspelling that is about as common as the right spelling.
func flagOf(key string) flagKind {
	switch len(key) {
	case len("disable-model-invocation"), len("user-invocable"):
	default:
		return flagNone
	}
	switch strings.ReplaceAll(strings.ToLower(key), "_", "-") {
	case "disable-model-invocation":
		return flagHidden
	case "user-invocable", "user-invokable":
		return flagInvocable
	}
	return flagNone
}

// parseFlag reads a boolean as YAML 1.1 or 1.2 writes it.
func parseFlag(text string) (value, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

// flag reads a control flag. open is the value that restricts nothing. A value that is no
// boolean counts as !open, because the author meant to restrict something.
func (p *parser) flag(f field, open bool) bool {
	text, ok := scalar(f.value)
	value, known := parseFlag(text)
	if ok && known {
		return value
	}
	p.report(oddity, f.line, codeFlag, "%s is neither true nor false and is read as %t", f.key, !open)
	return !open
}

// failClosed makes sure that repaired front matter loses no restriction. It searches all
// lines of the block, whatever their indentation. Control flags that it finds apply, and an
// allowed-tools that could not be read allows nothing.
func (p *parser) failClosed(block []byte) {
	for pos := 0; pos < len(block); {
		end, next := skilltext.LineEnd(block, pos)
		text := bytes.TrimLeft(block[pos:end], " \t")
		key, value, ok := keyLine(text, len(text))
		pos = next
		if !ok {
			continue
		}
		if key == "allowed-tools" && p.doc.Skill.AllowedTools == nil {
			p.doc.Skill.AllowedTools = []string{}
		}
		plain, _, _ := strings.Cut(value, " #")
		if flatKey(key) == "disallowedtools" && p.doc.Skill.DisallowedTools == nil {
			if tokens, _ := skilltext.SplitTools(strings.Trim(unquote(strings.TrimSpace(plain)), "[]")); len(tokens) > 0 {
				p.doc.Skill.DisallowedTools = tokens
			}
		}
		b, known := parseFlag(unquote(strings.TrimSpace(plain)))
		switch flagOf(key) {
		case flagHidden:
			p.doc.Skill.Hidden = p.doc.Skill.Hidden || b || !known
		case flagInvocable:
			p.doc.UserInvocable = p.doc.UserInvocable && b && known
		}
	}
}
