package prompt

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"

	"github.com/satchel-go/satchel/internal/cachecost/prompt/prompttest"
)

// blank matches lines of white space, which the codec divides into more tokens than OpenAI's encoder.
var blank = regexp.MustCompile(`[\r\n][\s\p{Z}\x{85}]*[\r\n]`)

// checkPieces compares the tokens of a text without blank lines with those of the codec.
func checkPieces(t testing.TB, p *Pieces, codec tokenizer.Codec, text string) {
	t.Helper()
	text = blank.ReplaceAllStringFunc(text, func(lines string) string {
		return strings.Map(func(r rune) rune {
			if r != '\r' && r != '\n' {
				return -1
			}
			return r
		}, lines)
	})
	ids, tokens, err := p.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	wantIDs, wantTokens, err := codec.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(ids, wantIDs) && slices.Equal(tokens, wantTokens) {
		return
	}
	i := 0
	for i < min(len(tokens), len(wantTokens)) && tokens[i] == wantTokens[i] {
		i++
	}
	t.Fatalf("from token %d on the tokens are %q, want %q", i, tokens[max(0, i-3):min(i+5, len(tokens))], wantTokens[max(0, i-3):min(i+5, len(wantTokens))])
}

func open(t testing.TB) (*Pieces, tokenizer.Codec) {
	t.Helper()
	p, err := NewPieces()
	if err != nil {
		t.Fatal(err)
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	return p, codec
}

// Every character has the class that the expression of the vocabulary gives it.
func TestPiecesOfAllCharacters(t *testing.T) {
	p, codec := open(t)
	var b strings.Builder
	for r := rune(0); r <= 0x1ffff; r++ {
		if !utf8.ValidRune(r) || r == 0x7f {
			continue
		}
		format := "%[1]ca%[1]c1 %[1]c"
		if r < 0x800 {
			format = "a%[1]cB%[1]c%[1]c1%[1]c  %[1]c\n%[1]c'%[1]cs %[1]c'%[1]c,%[1]c\r"
		}
		if fmt.Fprintf(&b, format, r); b.Len() > 1<<16 {
			checkPieces(t, p, codec, b.String())
			b.Reset()
		}
	}
	checkPieces(t, p, codec, b.String())
}

func TestPiecesOfRandomTexts(t *testing.T) {
	p, codec := open(t)
	p.news = maxNews - 10_000 // some texts by the codec, and some by the merger
	signs := []string{"a", "b", "A", "B", "Ab", "ʰ", "語", "日本", "\u0301", "ǅ", "1", "23", "½", " ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u2028", "'", "'s", "'RE", "'ll", "’", ",", "/", "//", "{\"", "\x00", "\u202e", "\ufffd", "😀", "ſ", "K"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var b strings.Builder
		for range 1 + r.IntN(30) {
			b.WriteString(signs[r.IntN(len(signs))])
		}
		checkPieces(t, p, codec, b.String())
	}
}

func TestPiecesOfPages(t *testing.T) {
	p, codec := open(t)
	p.news = maxNews
	for _, file := range []string{"../../../CHANGELOG.md", "../../../docs/decisions.md", "pieces.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		checkPieces(t, p, codec, string(text))
	}
}

// Lines of white space have the tokens of OpenAI's own encoder.
func TestBlankLines(t *testing.T) {
	for text, want := range map[string][]uint{
		"\n\t\n\t😀":      {40612, 197, 84083},
		"  \n\n  \nx":    {11691, 4066, 87},
		"a\n \n b":       {64, 47812, 287},
		"\r\n\t\r\n":     {117033},
		" \n\t\n\n\t\tz": {793, 31711, 197, 52196},
		"x,\n \n/\n":     {87, 412, 793, 11124},
	} {
		p, _ := open(t)
		if ids, _, err := p.Encode(text); err != nil || !slices.Equal(ids, want) {
			t.Errorf("%q has the tokens %d, want %d (%v)", text, ids, want, err)
		}
	}
}

// The codec loses the delete character; here it is a token like others.
func TestDelete(t *testing.T) {
	p, _ := open(t)
	if ids, tokens, err := p.Encode("a\x7fB,\x7f\x7f"); err != nil || !slices.Equal(ids, []uint{64, 221, 33, 11, 221, 221}) {
		t.Errorf("%v %q %v", ids, tokens, err)
	}
}

// A long piece is encoded in parts of whole characters, and its tokens are still all of it.
func TestLongPieces(t *testing.T) {
	p, _ := open(t)
	for _, text := range []string{strings.Repeat("a", 1<<19), strings.Repeat("語", 1<<18), strings.Repeat("-", 1<<18)} {
		_, tokens, err := p.Encode(text)
		if err != nil || strings.Join(tokens, "") != text {
			t.Errorf("%.10q…: %d tokens, %v", text, len(tokens), err)
		}
	}
}

// Long pieces have the tokens of the codec, whose pairs stand in a heap.
func TestPiecesOfManyBytes(t *testing.T) {
	p, codec := open(t)
	p.news = maxNews
	r := rand.New(rand.NewPCG(3, 4))
	for _, letters := range []string{"a", "ab", "the", "etaoinshrdlu", "abcdefghijklmnopqrstuvwxyz", "日本語文字", "-=", "áéíóú"} {
		runes := []rune(letters)
		for _, most := range []int{100, 1000, 10_000} {
			for range 30_000 / most {
				var b strings.Builder
				for range 1 + r.IntN(most) {
					b.WriteRune(runes[r.IntN(len(runes))])
				}
				checkPieces(t, p, codec, b.String())
			}
		}
	}
}

// Long texts have the same tokens whether one goroutine encodes them or several.
func TestLongTexts(t *testing.T) {
	p, codec := open(t)
	p.news = maxNews
	for name, text := range prompttest.LongTexts(minParallel + maxPart + 1) {
		parallel := tokensOf(t, p, text)
		if len(p.mergers) > 1 {
			p.mergers = p.mergers[:1]
		}
		var sequential []Token
		s := scanner{rest: text}
		for b := new(batch); s.next(b); {
			b.encode(p.mergers[0])
			sequential = append(sequential, b.tokens...)
		}
		if !slices.Equal(parallel, sequential) {
			t.Errorf("%s: %d tokens in parallel, %d in sequence", name, len(parallel), len(sequential))
		}
		if name == "base64" {
			checkPieces(t, p, codec, text)
		}
	}
}

func tokensOf(t testing.TB, p *Pieces, text string) (all []Token) {
	t.Helper()
	if err := p.Each(text, func(tokens []Token) bool { all = append(all, tokens...); return true }); err != nil {
		t.Fatal(err)
	}
	return all
}

// A text that is not read to its end does not affect the next one.
func TestEndedTexts(t *testing.T) {
	p, _ := open(t)
	text := prompttest.LongTexts(2 * minParallel)["words"]
	want := tokensOf(t, p, text)
	for range 3 {
		count := 0
		if err := p.Each(text, func(tokens []Token) bool { count += len(tokens); return count < 1000 }); !errors.Is(err, errEnough) {
			t.Errorf("error %v after %d tokens, want errEnough", err, count)
		}
		if got := tokensOf(t, p, text); !slices.Equal(got, want) {
			t.Errorf("%d tokens, want %d", len(got), len(want))
		}
	}
}

func FuzzPieces(f *testing.F) {
	p, codec := open(f)
	p.news = maxNews
	f.Add("Hello, world's 1234\n\n  end")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x7f", "?")
		checkPieces(t, p, codec, text)
	})
}

// BenchmarkPieces counts texts of 10 MiB, and a page that was read before.
func BenchmarkPieces(b *testing.B) {
	page, err := os.ReadFile("../../../docs/decisions.md")
	if err != nil {
		b.Fatal(err)
	}
	texts := prompttest.LongTexts(10 << 20)
	texts["known"] = string(page)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		b.Run(name, func(b *testing.B) {
			p, _ := open(b)
			text := texts[name]
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tokens := 0
				if err := p.Each(text, func(all []Token) bool { tokens += len(all); return true }); err != nil || tokens == 0 {
					b.Fatal(tokens, err)
				}
			}
		})
	}
}

func BenchmarkReadRanks(b *testing.B) {
	for b.Loop() {
		if _, err := newVocabulary(); err != nil {
			b.Fatal(err)
		}
	}
}
