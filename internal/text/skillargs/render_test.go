package skillargs

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		name, arguments string
		want            []string
	}{
		{"none", "", nil},
		{"blank", "   ", nil},
		{"words", " merge  a b ", []string{"merge", "a", "b"}},
		{"double quotes", `"my file.pdf" b`, []string{"my file.pdf", "b"}},
		{"single quotes", `'my "file".pdf' b`, []string{`my "file".pdf`, "b"}},
		{"quotes within a word", `a"b c"d'e f'g`, []string{"ab cde fg"}},
		{"empty words", `"" '' a`, []string{"", "", "a"}},
		{"backslash", `my\ file \"x\" \\`, []string{"my file", `"x"`, `\`}},
		{"backslash in double quotes", `"a\"b\\c\$d\e"`, []string{`a"b\c$d\e`}},
		{"backslash in single quotes", `'a\' b`, []string{`a\`, "b"}},
		{"backslash at the end", `a\`, []string{`a\`}},
		{"open single quote", `it's fine`, []string{"it's", "fine"}},
		{"open double quote", `5" wide`, []string{`5"`, "wide"}},
		{"open quote with another inside", `"a 'b c'`, []string{`"a`, "b c"}},
		{"open quote behind a closed one", `'a b' c'd`, []string{"a b", "c'd"}},
		{"open quote with an escaped one", `"a\" b`, []string{`"a"`, "b"}},
		{"nothing else is special", "$HOME `ls` #x *; |", []string{"$HOME", "`ls`", "#x", "*;", "|"}},
		{"other spaces", "a\u00a0b c", []string{"a\u00a0b", "c"}},
		{"characters of several bytes", `ü\ö "größe ß"`, []string{"üö", "größe ß"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Words(tt.arguments); !slices.Equal(got, tt.want) {
				t.Errorf("Words(%q) = %q, want %q", tt.arguments, got, tt.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, arguments, want string
	}{
		{"ordinary", "merge a b ü 漢字", ""},
		{"the longest", strings.Repeat("x", Max), ""},
		{"one byte too long", strings.Repeat("x", Max+1), "they have 4097 bytes, and at most 4096 are allowed"},
		{"too long in bytes, not in characters", strings.Repeat("ü", Max/2+1), "they have 4098 bytes"},
		{"line end", "a\nb", "they contain U+000A"},
		{"carriage return", "a\rb", "U+000D"},
		{"tab", "a\tb", "U+0009"},
		{"NUL", "a\x00b", "U+0000"},
		{"escape", "a\x1b[31m", "U+001B"},
		{"delete", "a\x7f", "U+007F"},
		{"next line", "a\u0085b", "U+0085"},
		{"line separator", "a\u2028b", "U+2028"},
		{"paragraph separator", "a\u2029b", "U+2029"},
		{"no UTF-8", "a\xff", "not valid UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Check(tt.arguments)
			if tt.want == "" && err != nil || tt.want != "" && (!errors.Is(err, ErrArguments) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if _, rendered := Render("$ARGUMENTS", Declared{}, tt.arguments); (rendered == nil) != (err == nil) {
				t.Errorf("Render: %v", rendered)
			}
		})
	}
}

func TestRender(t *testing.T) {
	none, takes := Declared{}, Declared{Takes: true}
	named := Declared{Names: []string{"file", "out-dir", "out", "größe"}, Takes: true}
	for _, tt := range []struct {
		name, body string
		declared   Declared
		arguments  string
		want       string
	}{
		{"whole", "Do $ARGUMENTS now", none, `merge "a b"`, `Do merge "a b" now`},
		{"whole is as given", "<$ARGUMENTS>", none, "  a   b ", "<  a   b >"},
		{"whole several times", "$ARGUMENTS$ARGUMENTS", none, "x", "xx"},
		{"whole as a part of a name", "$ARGUMENTS_DIR $ARGUMENTSX $ARGUMENTS1 $ARGUMENTS", none, "x", "$ARGUMENTS_DIR $ARGUMENTSX $ARGUMENTS1 x"},
		{"whole before a dot", "$ARGUMENTS.", none, "x", "x."},
		{"by number", "$ARGUMENTS[0] $ARGUMENTS[1] $ARGUMENTS[11]", none, `"a b" c`, "a b c "},
		{"a large number", "<$ARGUMENTS[99999999999999999999]>", none, "a", "<>"},
		{"no number", "$ARGUMENTS[x] $ARGUMENTS[-1] $ARGUMENTS[] $ARGUMENTS[0", none, "a", "a[x] a[-1] a[] a[0"},
		{"short number with whole", "$ARGUMENTS: $0 $1 $2", none, "a b", "a b: a b "},
		{"short number with whole by number", "$ARGUMENTS[0] $1", none, "a b", "a b"},
		{"short number, declared", "$0-$1", takes, "a b", "a-b"},
		{"short number, not declared", "costs $5, awk '{print $1}'", none, "a b", "costs $5, awk '{print $1}'\n\nARGUMENTS: a b"},
		{"short number with an escaped whole", `\$ARGUMENTS costs $1`, none, "a b", "$ARGUMENTS costs $1\n\nARGUMENTS: a b"},
		{"short number before a digit, dot or letter", "$10 $1.5 $0. $1k $1é $1_ $1, $1", takes, "a b", "$10 $1.5 $0. $1k $1é b_ b, b"},
		{"names", "$file to ${out}, ${file}", named, "a b c", "a to c, a"},
		{"the longest name", "$out-dir $out $out-d", named, "a b c", "b c c-d"},
		{"a part of a name", "$files $file1 $file_x ${files} ${file", named, "a", "$files $file1 $file_x ${files} ${file\n\nARGUMENTS: a"},
		{"a name that is not ASCII", "$größe", named, "a b c d", "d"},
		{"other names", "$HOME ${HOME} $other", named, "a", "$HOME ${HOME} $other\n\nARGUMENTS: a"},
		{"braces around others", "${ARGUMENTS} ${0}", named, "a", "${ARGUMENTS} ${0}\n\nARGUMENTS: a"},
		{"not given", "<$file> <$out> <$1>", named, "a", "<a> <> <>"},
		{"in code", "```sh\ncp $ARGUMENTS\n```\n`$0`", none, "a", "```sh\ncp a\n```\n`a`"},
		{"never in what was put in", "$ARGUMENTS|$0|$file", named, "$file '$0' ${file} $ARGUMENTS", "$file '$0' ${file} $ARGUMENTS|$file|$file"},
		{"never across what was put in", "$ARGUMENTS$0$ARGUMENTS", named, "$ RG", "$ RG$$ RG"},
		{"never with what follows", "${file}ile}", named, "${f", "${file}"},
		{"one backslash", `\$ARGUMENTS \$0 \$file \${file} $0`, named, "a", "$ARGUMENTS $0 $file ${file} a"},
		{"two backslashes", `\\$ARGUMENTS \\$0 \\$file \\${file} $0`, named, "a", "$ARGUMENTS $0 $file ${file} a"},
		{"backslashes elsewhere", `\$HOME \\$HOME \$10 \n $0`, named, "a", `\$HOME \\$HOME \$10 \n a`},
		{"only escaped", `\$0`, takes, "a", "$0\n\nARGUMENTS: a"},
		{"nothing to replace", "Merge files.", none, "a b", "Merge files.\n\nARGUMENTS: a b"},
		{"no body", "", none, "a b", "ARGUMENTS: a b"},
		{"commands stay", "!`ls $0`", takes, "a; rm", "!`ls a;`"},

		{"no arguments", "$ARGUMENTS $ARGUMENTS[0] $0 $5", takes, "", "$ARGUMENTS $ARGUMENTS[0] $0 $5"},
		{"no arguments, names", "<$file> <${out}> $ARGUMENTS $0 $HOME", named, "", "<> <> $ARGUMENTS $0 $HOME"},
		{"blank arguments", "<$file> $ARGUMENTS", named, "  ", "<> $ARGUMENTS"},
		{"no arguments, escaped", `\$file \$0 \$ARGUMENTS`, named, "", `$file \$0 \$ARGUMENTS`},
		{"names that cannot be placeholders", "$0 $ARGUMENTS $a.b", Declared{Names: []string{"0", "ARGUMENTS", "a.b"}, Takes: true}, "", "$0 $ARGUMENTS $a.b"},
		{"the first of two equal names", "$a", Declared{Names: []string{"a", "a"}}, "1 2", "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Render(tt.body, tt.declared, tt.arguments)
			if err != nil || got != tt.want {
				t.Errorf("Render(%q, %q) = %q, %v, want %q", tt.body, tt.arguments, got, err, tt.want)
			}
		})
	}
}

// A body that repeats long arguments does not use any amount of memory.
func TestRenderIsBounded(t *testing.T) {
	_, err := Render(strings.Repeat("$ARGUMENTS ", 1<<20), Declared{}, strings.Repeat("x", Max))
	if !errors.Is(err, ErrArguments) || !strings.Contains(err.Error(), "1048576 bytes longer") {
		t.Error(err)
	}
	for _, body := range []string{strings.Repeat("${", 1<<20), strings.Repeat("$ARGUMENTS[", 1<<15), strings.Repeat(`\`, 1<<20) + "$0"} {
		if _, err := Render(body, Declared{Names: []string{"a"}}, "x"); err != nil {
			t.Error(err)
		}
	}
}

func TestUses(t *testing.T) {
	for text, want := range map[string]bool{
		"$ARGUMENTS": true, "a $ARGUMENTS[0].": true, "`$ARGUMENTS`": true, `\$ARGUMENTS and $ARGUMENTS`: true,
		"": false, "$5": false, "ARGUMENTS": false, `\$ARGUMENTS`: false, "$ARGUMENTS_X": false, "${ARGUMENTS}": false,
	} {
		if got := Uses(text); got != want {
			t.Errorf("Uses(%q) = %t, want %t", text, got, want)
		}
	}
}

// checkOnePass checks that words which look like placeholders have the same effect as words that
// do not: what was put in is never read again.
func checkOnePass(t *testing.T, body string, declared Declared, words []string) {
	t.Helper()
	var plain, hostile []string
	for i, w := range words {
		plain = append(plain, "''"+string(rune(0xE000+i))) // no body has two quotes
		hostile = append(hostile, "'"+strings.ReplaceAll(w, "'", "")+"'")
	}
	want, err := Render(body, declared, strings.Join(plain, " "))
	if err != nil {
		return
	}
	got, err := Render(body, declared, strings.Join(hostile, " "))
	if err != nil {
		return
	}
	pairs := []string{strings.Join(plain, " "), strings.Join(hostile, " ")}
	for i := range words {
		pairs = append(pairs, strings.TrimPrefix(plain[i], "''"), strings.Trim(hostile[i], "'"))
	}
	if want = strings.NewReplacer(pairs...).Replace(want); got != want {
		t.Errorf("body %q, words %q: got %q, want %q", body, words, got, want)
	}
}

var pieces = []string{"$", "$ARGUMENTS", "$ARGUMENTS[1]", "[0]", "$0", "$1", "${", "a", "}", "$a", "${a}", "$bc", `\`, " ", ".", "9", "ARGUMENTS", "é", "\n"}

func TestNeverExpandsWhatWasPutIn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) string {
		var b strings.Builder
		for range r.IntN(n) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 50_000 {
		words := make([]string, 2+r.IntN(3))
		for i := range words {
			words[i] = strings.ReplaceAll(draw(4), "\n", "")
		}
		checkOnePass(t, draw(12), Declared{Names: []string{"a", "bc"}, Takes: r.IntN(2) == 0}, words)
	}
}

func FuzzRender(f *testing.F) {
	f.Add("Do $ARGUMENTS with $0 and ${file}", "file out", true, `merge "a b"`)
	f.Add(`\$ARGUMENTS \\$0 $5.00`, "", false, "it's $0")
	f.Fuzz(func(t *testing.T, body, names string, takes bool, arguments string) {
		declared := Declared{Names: strings.Fields(names), Takes: takes}
		got, err := Render(body, declared, arguments)
		if (Check(arguments) != nil) && err == nil {
			t.Fatal("arguments that are not allowed were rendered")
		}
		if err != nil {
			return
		}
		if utf8.ValidString(body) && !utf8.ValidString(got) {
			t.Errorf("%q is not valid UTF-8", got)
		}
		if len(got) > len(body)+maxGrowth+2*Max {
			t.Errorf("%d bytes of %d", len(got), len(body))
		}
		if again, _ := Render(body, declared, arguments); again != got {
			t.Errorf("%q, then %q", got, again)
		}
		if words := Words(arguments); len(words) > 0 && len(words) < 100 && !strings.ContainsFunc(body, func(r rune) bool { return r == '\'' || r >= 0xE000 && r < 0xE100 }) {
			checkOnePass(t, body, declared, words)
		}
	})
}

// Without declared arguments, no real skill changes without arguments, and one that is loaded with
// arguments changes only where it says $ARGUMENTS.
func TestCorpus(t *testing.T) {
	corpus := os.Getenv("SATCHEL_CORPUS")
	if corpus == "" {
		t.Skip("SATCHEL_CORPUS names no directory of real skills")
	}
	files, withDollar := 0, 0
	err := filepath.WalkDir(corpus, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		files++
		body := string(text)
		if strings.Contains(body, "$5") || strings.Contains(body, "$1") {
			withDollar++
		}
		if got, err := Render(body, Declared{}, ""); err != nil || got != body {
			t.Errorf("%s: changed without arguments: %v", path, err)
		}
		if got, err := Render(body, Declared{}, "a b"); err != nil || !Uses(body) && !strings.Contains(body, "ARGUMENTS") && got != body+"\n\nARGUMENTS: a b" {
			t.Errorf("%s: changed by arguments that it does not take: %v", path, err)
		}
		return nil
	})
	t.Logf("%d files, %d of them with $1 or $5", files, withDollar)
	if err != nil || files < 100 {
		t.Errorf("%d files: %v", files, err)
	}
}
