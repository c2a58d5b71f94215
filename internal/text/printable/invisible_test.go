package printable_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/printable"
)

func TestOrdinaryCharactersStay(t *testing.T) {
	for _, text := range []string{
		"", "plain", "Grüße", "数据分析", "❤\uFE0F", "❤\uFE0E", "1\uFE0F\u20E3", "#\uFE0F", "*\uFE0F\u20E3", "©\uFE0F",
		"👩\u200D💻", "👩🏽\u200D💻", "👨\u200D👩\u200D👧\u200D👦", "🏳\uFE0F\u200D🌈", "❤\uFE0F\u200D🔥", "🇩🇪", // families, flags
		"می\u200Cخواهم", "क्\u200Dष", "ක්\u200Dර", "র\u200D্য", "کِتاب\u200Cها", // Persian, Hindi, Sinhala, Bengali
		"\u2801\u2800\u2803", "\u0600\u0661", "line\n\tend",
	} {
		if printable.HasInvisible(text) || printable.Visible(text) != text || printable.Lines(text) != text {
			t.Errorf("%+q: %+q, %+q", text, printable.Visible(text), printable.Lines(text))
		}
	}
}

func TestInvisibleCharacters(t *testing.T) {
	alone := "\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B\u180C\u180D\u180E\u180F\u200B\u200C\u200D\u200E\u200F\u202A\u202E" +
		"\u2060\u2061\u2062\u2063\u2064\u2065\u2066\u2069\u206A\u206F\u2800\u3164\uFE00\uFE0D\uFE0E\uFE0F\uFEFF\uFFA0\uFFF9\uFFFA\uFFFB" +
		"\U0001107F\U00016FE4\U0001D159\U0001D173\U0001D17A\U000E0001\U000E0020\U000E0041\U000E007F\U000E0100\U000E01EF"
	for _, r := range alone {
		text := "a" + string(r) + "b"
		if printable.FirstInvisible(text) != 1 || printable.Visible(text) != "ab" || printable.Replaced(text) != "a\uFFFDb" || !strings.HasPrefix(printable.Line(text), `a\u`) {
			t.Errorf("%U: %+q, %+q", r, printable.Visible(text), printable.Line(text))
		}
	}
	for text, want := range map[string]string{
		"❤\uFE0F\uFE0F":                   "❤\uFE0F", // only one selector is kept
		"\uFE0Fa":                         "a",
		"👩\u200D":                         "👩",
		"👩\u200Da":                        "👩a",
		"1\u200D2":                        "12",
		"می\u200C\u200Cخ":                 "میخ",
		"می\u200C b":                      "می b",
		"a\u200Cb":                        "ab",
		"🏴\U000E0067\U000E0062\U000E007F": "🏴", // a tag sequence for a flag
		"a\x1b[2J\u0085\u2028\u2029b\r":   "a [2J   b ",
		"क\u200D\u17B4":                   "क",
	} {
		if got := printable.Visible(text); got != want {
			t.Errorf("%+q: %+q, want %+q", text, got, want)
		}
	}
}

// What is visible stays so, whatever was taken out between, and nothing else is lost.
func FuzzVisible(f *testing.F) {
	for _, text := range []string{"❤\uFE0F\u200D🔥", "می\u200Cخ", "a\u200B\uFE0F\U000E0041\x1b\n\xff", "क्\u034F\u200Dष\u17B4", "\u2801\u2800\u2800\u2800\u2801", "\u2028"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, got := range map[string]string{"Visible": printable.Visible(text), "Replaced": printable.Replaced(text), "Line": printable.Line(text)} {
			if printable.HasInvisible(got) || !utf8.ValidString(got) {
				t.Errorf("%s of %+q is %+q", name, text, got)
			}
			if strings.ContainsFunc(got, func(r rune) bool {
				return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) && (name != "Visible" || !strings.ContainsRune("\n\t", r))
			}) {
				t.Errorf("%s of %+q is %+q", name, text, got)
			}
		}
		seen := printable.Visible(text)
		if again := printable.Visible(seen); again != seen {
			t.Errorf("%+q, then %+q", seen, again)
		}
		if !printable.HasInvisible(text) && utf8.ValidString(text) && utf8.RuneCountInString(seen) != utf8.RuneCountInString(text) {
			t.Errorf("%+q has lost something: %+q", text, seen)
		}
	})
}
