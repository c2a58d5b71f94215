package bypasstest

import (
	"math/rand/v2"
	"strings"
)

// TextList is the list for the texts of [Text]. It does not allow evil, nor any other word of the
// texts that a shell could take for a command.
const TextList = "Bash(echo:*) Bash(cat:*) Bash(git a:*) Bash(only) Bash(X=1 npm *) Bash(cd:*) Write(w/**)"

// Text returns random shell text, nested up to a depth. It is valid text, valid text with random
// changes, or a random list of tokens. No shell accepts much of it.
func Text(r *rand.Rand, depth int) string {
	w := &writer{r}
	if w.one(4) {
		return w.soup()
	}
	text := w.list(depth)
	if w.one(2) {
		return text
	}
	return Mutate(r, text)
}

type writer struct{ *rand.Rand }

func (w *writer) one(in int) bool           { return w.IntN(in) == 0 }
func (w *writer) of(texts ...string) string { return texts[w.IntN(len(texts))] }
func (w *writer) maybe(in int, t string) string {
	if w.one(in) {
		return t
	}
	return ""
}

// tokens are texts with a meaning in some shell.
var tokens = []string{
	"<", ">", "&", "-", "1", "2", "|", " ", " ", ";", "\\", "'", `"`, "#", "!", "{", "}", "(", ")", "$", "=", "\n", "*", "[", "]", "x", ":", "~", "[[", "]]",
	"((", "))", "\t", "@", "?", "+", "E", "^", "%", ",", "<&", ">&", "&>", "<>", ">|", ">>", "<<", "<<<", "<<-", "&>>", "|&", "||", "&&", ";;", "<(", ">(", "$(", "$((",
	"${", "$'", `$"`, "$[", "@(", "!(", "()", "12", "<&-", ">&-", "2>&1", "{x}", "\\\n", "time ", "coproc ", "function ", "select ", "if ", "then ", "fi", "do ", "done", "for ",
	"in ", "case ", "esac", "while ", "X=1 ", "\v", "\f", "\u00a0", "\x01", "\x7f", "é", "\nE\n", "<<E\n", "<<'E'\n", " # ", "'E'", "w/f",
}

// soup returns a few tokens in random order, with two commands among them.
func (w *writer) soup() string {
	parts := []string{w.of("echo", "cat", "only", "echo "), w.of("evil", " evil", "evil ")}
	for range 1 + w.IntN(8) {
		parts = append(parts, w.of(tokens...))
	}
	w.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts, "")
}

// Mutate returns a text with random tokens inserted, or in place of parts of it.
func Mutate(r *rand.Rand, text string) string {
	w := &writer{r}
	for range 1 + w.IntN(3) {
		from := w.IntN(len(text) + 1)
		to := min(len(text), from+w.IntN(4))
		text = text[:from] + w.of(append(tokens, "", "evil", " evil ")...) + text[to:]
	}
	return text
}

func (w *writer) list(depth int) string {
	text := w.command(depth)
	for w.one(3) {
		text += w.of("; ", " && ", " || ", " | ", "\n", " |& ", ";", " & ", "&", "|", "&&", ";\n", "|\n") + w.command(depth-1)
	}
	return text
}

func (w *writer) command(depth int) string {
	if depth <= 0 {
		return w.simple(0)
	}
	in := func() string { return w.list(depth - 1) }
	word := func() string { return w.word(depth - 1) }
	var text string
	switch w.IntN(26) {
	case 0:
		text = "(" + in() + ")"
	case 1:
		text = "{ " + in() + w.of("; }", "\n}", ";}")
	case 2:
		text = "if " + in() + "; then " + in() + w.maybe(2, "; else "+in()) + "; fi"
	case 3:
		text = w.of("while ", "until ! ") + in() + "; do " + in() + "; break; done"
	case 4:
		text = "case " + word() + " in " + w.of("a", "(a", "*", "a|b", "evil", "'a'") + w.of(") ", ")") + in() + w.of(";;", ";&", ";;&", "\n;;") + " " + w.maybe(2, "*) "+in()+";; ") + "esac"
	case 5, 6:
		text = "[[ " + w.maybe(3, w.of("-n ", "! ", "-f ", "( ")) + word() + w.of("", " == ", " =~ ", " && ", " || ", " < ", " > ", " -nt ", "\n", " != ", "|", ";", " & ", " #") + word() + " ]]"
	case 7:
		text = "((" + w.arithmetic(depth-1) + "))"
	case 8:
		return "! " + w.command(depth-1)
	case 9, 10:
		return w.of("time ", "time -p ", "coproc ", "time -- ", "coproc x ") + w.command(depth-1)
	case 11:
		text = w.of("f() ", "function f ", "f () ", "evil() ", "function f() ", "a-b() ") + w.of("{ "+in()+"; }", "("+in()+")")
	case 12, 13, 14:
		return w.document(depth - 1)
	case 15:
		text = w.of("for i in ", "select i in ") + word() + "; do " + in() + "; break; done"
	default:
		return w.simple(depth)
	}
	return text + w.maybe(3, w.of(" ", "")+w.redirection(depth-1))
}

func (w *writer) simple(depth int) string {
	var text string
	for w.one(6) {
		text += w.redirection(depth) + w.of(" ", " ", "")
	}
	text += w.maybe(12, w.of("X=1 ", "X=1 Y=2 ", "X='1' ", "Y=$(evil) ", "PATH=. ", "X=1 >w/f "))
	text += w.of("echo", "echo", "echo", "cat", "git a", "git", "only", "X=1 npm", "cd w", "'echo'", `ec\ho`, `e"ch"o`, "true", "evil", "time", "[", "{", "if", "echo evil")
	for range w.IntN(4) {
		text += w.of(" ", " ", " ", "\t", "  ", " \\\n") + w.word(depth-1)
	}
	for w.one(3) {
		text += w.of(" ", " ", "") + w.redirection(depth) + w.maybe(3, w.of(" evil", "evil", " a"))
	}
	return text + w.maybe(20, " # "+w.of("evil", "it's", "$(evil)", "\\")+"\n")
}
