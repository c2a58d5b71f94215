package bypasstest

import "strings"

func (w *writer) word(depth int) string {
	if depth <= 0 {
		return w.of("a", "b", "1", "x=y", "-n", "evil", "--", "]", "*", "?", "~", "#", "a#b", "}", "{", "!", "-f", "=", "a[1]", `\;evil`, `""`, "-", "{a,b}", "'a'", "X=1")
	}
	switch w.IntN(24) {
	case 0:
		return "'" + w.of("a b", ";evil", "$(evil)", "\n", "#", "\\", `"`, "E", "<&-evil") + "'"
	case 1, 2:
		return `"` + w.quoted(depth-1) + `"`
	case 3:
		return "$(" + w.list(depth-1) + ")"
	case 4:
		return w.of("<(", ">(") + w.list(depth-1) + ")"
	case 5:
		return "`" + w.list(depth-1) + "`"
	case 6:
		return w.of("$((", "$[") + w.arithmetic(depth-1) + w.of("))", "))", "]")
	case 7, 8:
		return w.expansion(depth - 1)
	case 9:
		return "{" + w.word(depth-1) + w.of(",", "..") + w.word(depth-1) + "}"
	case 10:
		return `\` + w.of(";", "|", "&", "\n", "$", "`", `"`, "'", "(", " ", "#", `\`, "<", ">", "-")
	case 11:
		return "$'" + w.of(`\n`, `a\'b`, "evil", `\x27;evil`) + "'"
	case 12:
		return `$"` + w.quoted(depth-1) + `"`
	case 13:
		return w.of("@", "!", "+", "*", "?") + "(" + w.word(depth-1) + "|" + w.word(depth-1) + ")"
	case 14, 15, 16:
		return w.word(depth-1) + w.word(depth-1)
	}
	return w.word(0)
}

func (w *writer) quoted(depth int) string {
	var text strings.Builder
	for range 1 + w.IntN(3) {
		switch {
		case depth > 0 && w.one(5):
			text.WriteString("$(" + w.list(depth-1) + ")")
		case depth > 0 && w.one(4):
			text.WriteString(w.expansion(depth - 1))
		default:
			text.WriteString(w.of("a", " ", ";evil", `\$(evil)`, "\\`evil\\`", "'", "\n", "#", `\\`, `\"`, "evil", "(", ")", "}", "{", "$", "!", "'$(evil)'", "*", "\\\n", "$[1]"))
		}
	}
	return text.String()
}

func (w *writer) expansion(depth int) string {
	if w.one(3) {
		return "$" + w.of("x", "1", "@", "#", "?", "HOME", "_", "$", "!", "-")
	}
	text := "${" + w.of("x", "HOME", "1", "#", "@", "a[0]", "#x", "!x", " evil;", "|evil;")
	if operator := w.of("", ":-", "-", ":+", "#", "##", "%", "/", "//", ":", "^", "@Q", "=", "?", "/#"); operator != "" {
		text += operator + w.of("a", "evil", "*", "1", "1:2", "a/b", "'}'evil", `"}"`, `\}`, "$(evil)", "`evil`", " ", "#", "[a-z]", "a b", w.word(depth-1))
	}
	return text + "}"
}

func (w *writer) arithmetic(depth int) string {
	text := w.of("1", "x", "1+2", "a[0]", "a[$(evil)]", "x=1", "1<<E", "(1)", "1?2:3", "$x", "'1'", "x++", "1,2", "16#f", "1)) ; evil ; ((1", "~1", "!1", "1<2", "1||evil", "1|2", "1&&2", "evil")
	if depth > 0 && w.one(3) {
		text += w.of("+", "<<", "|", "&&", ",", " ", "\n") + w.word(depth-1)
	}
	return text
}

// redirection returns a redirection of any kind, often with an invalid target.
func (w *writer) redirection(depth int) string {
	descriptor := w.of("", "", "", "", "", "0", "1", "2", "5", "12", "9999999999", "{x}", "{a[1]}", `\2`, `"2"`, "-1", "0x1")
	operator := w.of("<", ">", ">>", ">|", "<>", ">&", "<&", ">&", "<&", "&>", "&>>", "<<<", ">!", ">>|", "<<", "<&-", ">&-")
	target := w.of("/dev/null", "/dev/null", "/dev/null", "w/f", "w/f", "1", "2", "0", "-", "2-", "-evil", "1evil", "x", "1-evil", "-1", "10", "10-", "$x", `"1"`, `"-"evil`, `\-evil`, `1""evil`,
		"-$x", "-$(evil)", "-'evil'", "-*", "- evil", "--", "~", "*", "{a,b}", "-;evil", "-|cat", "-&evil", "-(evil)", "-<w/f", "->w/f", "-2>w/f", "&evil", "!", "w/f evil", w.word(depth-1))
	return descriptor + operator + w.maybe(4, w.of(" ", "\t", " \\\n", "\\\n")) + target
}

// document returns a command with one or two here-documents.
func (w *writer) document(depth int) string {
	delimiter := w.of("E", "'E'", "E", "'E'", `"E"`, `\E`, "E-F", "'E'F", "'E F'", "$E", "-E")
	end := strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(delimiter)
	tabs := w.of("", "", "-")
	text := w.of("cat", "echo", "evil", "only") + " " + w.of("<<", "<<", "5<<", "0 <<") + tabs + w.maybe(5, " ") + delimiter
	text += w.of("", "", "", " | cat", "; echo a", " && evil", " $(echo)", " <<E", ")", " \"a\nE\n\"", " 'a\nb'", " # it's", " \\\n a", "; (echo", " > w/f", " $(echo a\nE\n)", ";evil", "&evil", ">&-evil", " $((1+\n2))", " ${x:-\na}")
	text += "\n"
	for range w.IntN(4) {
		text += w.maybe(3, "\t") + w.of("a", "evil", "$(evil)", "`evil`", "E ", " E", "\tE", "'", `"`, ")", "\\", "${x:-", "}", "$x", "<(evil)", "#", "E)", "F", w.quoted(depth)) + "\n"
	}
	text += w.maybe(4, "\t") + end
	return w.maybe(6, "(") + text + w.of("\n", "\n", "\nevil\nE\n", "", "\n)", "\n}\n") + w.maybe(3, w.command(depth-1))
}
