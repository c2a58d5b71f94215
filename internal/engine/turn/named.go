package turn

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
)

// NoteAnswer reports the skills that an answer of the model names, if their texts were in the
// request.
func (t *Turns) NoteAnswer(ctx context.Context, a *core.ModelAnswer) {
	rec := t.Calls.Agents.Of(a.Key).LastRecord()
	if rec == nil || a.Text == "" {
		return
	}
	var loaded []string
	for i := range rec.Active {
		loaded = append(loaded, rec.Active[i].Skill)
	}
	for i := range rec.Deliveries {
		if d := &rec.Deliveries[i]; d.Ended && !slices.Contains(loaded, d.Skill) {
			loaded = append(loaded, d.Skill)
		}
	}
	for _, name := range loaded {
		if namesWord(a.Text, name) {
			t.Calls.Report.Emit(ctx, core.Event{Kind: core.SkillUsed, Key: a.Key, Skill: name, Detail: skilltools.UsedNamed})
		}
	}
}

// namesWord reports whether text contains name as a whole word. A part of a longer name, of a path or
// of the name of a file is no word.
func namesWord(text, name string) bool {
	for at := 0; name != ""; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(name)
		if !continuesBefore(text[:start]) && !continuesAfter(text[end:]) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		at = start + size
	}
	return false
}

// continuesBefore reports whether the word that begins after text began earlier.
func continuesBefore(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return isWordRune(r) || text != "" && strings.ContainsRune("./\\:@", r)
}

// continuesAfter reports whether the word that ends before text goes on. A full stop ends a word if
// no letter follows.
func continuesAfter(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	if r == '.' || r == ':' {
		next, _ := utf8.DecodeRuneInString(text[size:])
		return isWordRune(next)
	}
	return isWordRune(r) || text != "" && strings.ContainsRune("/\\@", r)
}

// isWordRune reports whether r continues a word. Letters of scripts without spaces between words do
// not.
func isWordRune(r rune) bool {
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
		return false
	}
	return r == '-' || r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
