package search

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func source(d Document) Source {
	return Source{Key: fmt.Sprint(d), Read: func() (Document, error) { return d, nil }}
}

func built(documents ...Document) *Index {
	var sources []Source
	for _, d := range documents {
		sources = append(sources, source(d))
	}
	return Build(nil, sources)
}

var shelf = []Document{
	{Name: "docx-forms", Description: "Fill in forms in Word documents."},
	{Name: "git-release", Description: "Tag and publish a release with git.", Tags: []string{"changelog", "semver"}},
	{Name: "pdf-forms", Description: "Fill in and flatten PDF forms.", Body: "# AcroForm fields\nList the fields first.\n```sh\nsecretword\n```\n"},
	{Name: "sales-report", Description: "Sum up sales in a spreadsheet and draw a chart."},
	{Name: "中文报告", Description: "生成销售数据报告和图表"},
}

func found(x *Index, phrasings ...string) (names []string) {
	for _, h := range x.Search(Query{Phrasings: phrasings}) {
		names = append(names, x.names[h.Document])
	}
	return names
}

func TestSearch(t *testing.T) {
	x := built(shelf...)
	for name, tt := range map[string]struct {
		phrasings []string
		want      []string
	}{
		"words":               {[]string{"fill in a PDF form"}, []string{"pdf-forms", "docx-forms"}},
		"heading":             {[]string{"acroform"}, []string{"pdf-forms"}},
		"tag":                 {[]string{"write the changelog"}, []string{"git-release"}},
		"stemmed":             {[]string{"publishing releases"}, []string{"git-release"}},
		"not in code":         {[]string{"secretword"}, nil},
		"Chinese, no spaces":  {[]string{"帮我做销售报告"}, []string{"中文报告"}},
		"named":               {[]string{"sales with git-release"}, []string{"git-release", "sales-report"}},
		"named by a dollar":   {[]string{"$PDF-forms please"}, []string{"pdf-forms", "docx-forms"}},
		"stop words only":     {[]string{"the of and"}, nil},
		"nothing":             {nil, nil},
		"several wordings":    {[]string{"spreadsheet", "chart of sales"}, []string{"sales-report"}},
		"full width, camel":   {[]string{"ＰＤＦ", "fillForms"}, []string{"pdf-forms", "docx-forms"}},
		"contraction is none": {[]string{"don't"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := found(x, tt.phrasings...); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// What is strong shares most of the words, for at least half of the phrasings.
func TestStrong(t *testing.T) {
	x := built(shelf...)
	for phrasing, want := range map[string]int{
		"flatten a PDF form":                      1,
		"how is the weather in the park tomorrow": 0,
		"document": 1,
		"生成报告":     1, // the pair 成报 spans two words
		"今天天气报告":   0,
		"帮我做销售报告":  1,
		"你们的":      0,
	} {
		strong := 0
		for _, h := range x.Search(Query{Phrasings: []string{phrasing}}) {
			if h.Strong {
				strong++
			}
		}
		if strong != want {
			t.Errorf("%q: %d strong hits, want %d: %+v", phrasing, strong, want, x.Search(Query{Phrasings: []string{phrasing}}))
		}
	}
}

func TestAllowAndBoost(t *testing.T) {
	x := built(shelf...)
	hits := x.Search(Query{
		Phrasings: []string{"fill in forms"},
		Allow:     func(d int) bool { return d != 0 },
		Boost:     func(int) float64 { return 2 },
	})
	plain := x.Search(Query{Phrasings: []string{"fill in forms"}})
	if len(hits) != 1 || hits[0].Document != 2 {
		t.Fatalf("hits %+v", hits)
	}
	i := slices.IndexFunc(plain, func(h Hit) bool { return h.Document == 2 })
	if hits[0].Score != 2*plain[i].Score {
		t.Errorf("score %v is not twice %v", hits[0].Score, plain[i].Score)
	}
}

// Weak leaves out the least of the hits that are not strong, and changes nothing else.
func TestWeak(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	x := built(synthetic(r, 300)...)
	cut := 0
	for range 20 {
		q := Query{Phrasings: []string{fmt.Sprintf("w%d w%d w%d w50", 20+r.IntN(50), 100+r.IntN(300), 500+r.IntN(900)), "w30 w70 w90 w200"}}
		var want []Hit
		weak := 0
		for _, h := range x.Search(q) {
			if !h.Strong {
				weak++
			}
			if h.Strong || weak <= 3 {
				want = append(want, h)
			}
		}
		cut += max(0, weak-3)
		q.Weak = 3
		if got := x.Search(q); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", q.Phrasings, got, want)
		}
	}
	if cut < 1000 {
		t.Errorf("only %d hits were left out", cut)
	}
}

// The scores are constants of the design: a change of them changes what agents find.
func TestScores(t *testing.T) {
	x := built(shelf...)
	got := ""
	for _, h := range x.Search(Query{Phrasings: []string{"fill in a PDF form", "acroform fields"}}) {
		got += fmt.Sprintf("%s %.4f %v\n", x.names[h.Document], h.Score, h.Strong)
	}
	const want = `pdf-forms 4.8478 true
docx-forms 2.2274 false
`
	if got != want {
		t.Errorf("scores are\n%swant\n%s", got, want)
	}
}

// An index that was made from another one is the same as a new one, after any
// additions, removals and moves.
func TestBuildFromPrevious(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pool := synthetic(r, 40)
	var x *Index
	for round := range 12 {
		r.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
		now := slices.Clone(pool[:r.IntN(len(pool))])
		var sources []Source
		for _, d := range now {
			sources = append(sources, source(d))
		}
		x = Build(x, sources)
		fresh := Build(nil, sources)
		for _, q := range []string{"w1 w2 w3", "w4", anyText(now)} {
			a, b := x.Search(Query{Phrasings: []string{q}}), fresh.Search(Query{Phrasings: []string{q}})
			if !reflect.DeepEqual(a, b) {
				t.Fatalf("round %d, %q: %+v, made anew %+v", round, q, a, b)
			}
		}
	}
}

func anyText(documents []Document) string {
	if len(documents) == 0 {
		return ""
	}
	return documents[0].Description
}

// The order of the documents changes no answer.
func TestOrderOfDocuments(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	documents := synthetic(r, 80)
	for i := range documents {
		documents[i].Name = fmt.Sprintf("skill-%d", i)
	}
	want := found(built(documents...), "w1 w7 w12", "w3")
	for range 10 {
		r.Shuffle(len(documents), func(i, j int) { documents[i], documents[j] = documents[j], documents[i] })
		if got := found(built(documents...), "w1 w7 w12", "w3"); !reflect.DeepEqual(got, want) {
			t.Fatalf("found %q, in another order %q", got, want)
		}
	}
}

// synthetic makes documents of words whose frequencies fall as in a language.
func synthetic(r *rand.Rand, n int) []Document {
	zipf := rand.NewZipf(r, 1.1, 4, 60_000)
	text := func(words int) string {
		var b strings.Builder
		for range words {
			fmt.Fprintf(&b, "w%d ", zipf.Uint64())
		}
		return b.String()
	}
	documents := make([]Document, n)
	for i := range documents {
		documents[i] = Document{
			Name:        strings.ReplaceAll(strings.TrimSpace(text(2)), " ", "-"),
			Description: text(20 + r.IntN(30)),
			Body:        "# " + text(4) + "\n" + text(100+r.IntN(300)),
		}
	}
	return documents
}

func TestQueryIsBounded(t *testing.T) {
	x := built(shelf...)
	long := strings.Repeat("pdf ", 1<<20)
	phrasings := slices.Repeat([]string{long}, 100)
	hits := x.Search(Query{Phrasings: phrasings})
	if len(hits) != 1 || hits[0].Score > maxPhrasings*10 {
		t.Errorf("hits %+v", hits)
	}
	if (*Index)(nil).Search(Query{Phrasings: []string{"pdf"}}) != nil {
		t.Error("a nil index finds something")
	}
}

func FuzzTerms(f *testing.F) {
	for _, d := range shelf {
		f.Add(d.Name + " " + d.Description + d.Body)
	}
	f.Add("don't camelCaseWord 한국어 ﬁ \xff\u0301 中a文")
	f.Fuzz(func(t *testing.T, text string) {
		x := built(Document{Name: text, Description: text, Body: text})
		eachTerm(text, true, func(term string) {
			if term == "" {
				t.Errorf("%q has an empty term", text)
			}
			if _, ok := x.terms[term]; !ok {
				t.Errorf("term %q of %q is not in the index", term, text)
			}
		})
		x.Search(Query{Phrasings: []string{text}})
	})
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		x := built(synthetic(rand.New(rand.NewPCG(5, 6)), n)...)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportMetric(float64(len(x.lists))/1e6, "MB-lists")
			b.ReportAllocs()
			for b.Loop() {
				x.Search(Query{Phrasings: []string{"w10 w100 w1000 w55", "w20 w300 w4000", "w7 w70 w700 w7000"}})
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	documents := synthetic(rand.New(rand.NewPCG(5, 6)), 2_000)
	for b.Loop() {
		built(documents...)
	}
}
