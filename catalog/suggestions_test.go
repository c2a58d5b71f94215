package catalog

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
)

// message is a message of a user and the skill that it should suggest, "" for none. The terse ones
// have a few words.
type message struct {
	skill, text string
	isTerse     bool
}

// messagesOf reads testdata/suggestions. Its lines are "skill: text", with "!" before terse ones and
// "-" for no skill. The files "-dev" were used to choose the constants of the search, the files
// "-held" were not.
func messagesOf(t testing.TB, name string) (all []message) {
	t.Helper()
	data, err := os.ReadFile("testdata/suggestions/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		skill, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			t.Fatalf("%s: %q", name, line)
		}
		m := message{text: text}
		m.skill, m.isTerse = strings.CutPrefix(skill, "!")
		if skill == "-" {
			m.skill = ""
		}
		all = append(all, m)
	}
	return all
}

// suggested counts what became of messages.
type suggested struct {
	right, requests   int
	terse, terseRight int
	none, falseAlarms int
	beside            int // names beside the right one, of requests that are not terse
}

func suggestAll(t testing.TB, c *Catalog, messages []message) (s suggested) {
	t.Helper()
	for _, m := range messages {
		found, err := c.Search(t.Context(), Query{Phrasings: []string{m.text}, Messages: true, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, h := range found.Hits {
			if h.Strong {
				names = append(names, h.Skill.Name)
			}
		}
		isRight := slices.Contains(names, m.skill)
		if !isRight && (m.skill != "" || len(names) > 0) {
			t.Logf("%q: %q, want %q", m.text, names, m.skill)
		}
		one := 0
		if isRight {
			one = 1
		}
		switch {
		case m.skill == "":
			s.none++
			s.falseAlarms += min(1, len(names))
		case m.isTerse:
			s.terse, s.terseRight = s.terse+1, s.terseRight+one
		default:
			s.requests, s.right, s.beside = s.requests+1, s.right+one, s.beside+len(names)-one
		}
	}
	return s
}

func (s *suggested) String() string {
	return fmt.Sprintf("right %d of %d, terse %d of %d, %d of %d without a skill get a suggestion, %.2f names beside the right one",
		s.right, s.requests, s.terseRight, s.terse, s.falseAlarms, s.none, float64(s.beside)/float64(s.requests))
}

// TestSuggestions measures which skills messages suggest, among 17 and 300 skills, and with
// SATCHEL_RECALL among 5,000. The skills of the set "fresh-held" were drawn at random. The sets of 17 skills have
// tasks that none of these is for. A larger catalog has skills for some of them.
func TestSuggestions(t *testing.T) {
	corpus := os.Getenv("SATCHEL_CORPUS")
	if corpus == "" {
		t.Skip("SATCHEL_CORPUS is not set: no suggestions of real skills")
	}
	office, err := os.ReadDir("testdata/office")
	if err != nil {
		t.Fatal(err)
	}
	of := func(n int, sets ...string) []source.Root {
		if n == 17 {
			return []source.Root{source.Dir(filepath.Join(corpus, "anthropics-skills")), source.Dir("testdata/office")}
		}
		wanted := map[string]bool{}
		for _, set := range sets {
			for _, m := range messagesOf(t, set) {
				wanted[m.skill] = true
			}
		}
		delete(wanted, "")
		wantsOffice := wanted[office[0].Name()]
		if !wantsOffice {
			return []source.Root{source.From("shelf", corpusShelf(t, n, wanted))}
		}
		for _, skill := range office {
			delete(wanted, skill.Name())
		}
		return []source.Root{source.From("shelf", corpusShelf(t, n-len(office), wanted)), source.Dir("testdata/office")}
	}
	type least struct{ right, terse, none, beside float64 }
	for _, tt := range []struct {
		skills int
		sets   []string
		least  []least
	}{
		{17, []string{"17-dev", "17-held"}, []least{{0.95, 0.95, 0.05, 0.5}, {0.95, 0.9, 0.05, 0.5}}},
		{300, []string{"17-dev", "17-held"}, []least{{0.9, 0.7, 0.2, 0.8}, {0.85, 0.9, 0.2, 0.8}}},
		{5000, []string{"17-dev", "17-held"}, []least{{0.75, 0.5, 0.15, 0.9}, {0.7, 0.7, 0.15, 0.9}}},
		{300, []string{"many-dev", "many-held"}, []least{{0.85, 0.9, 0.05, 0.8}, {0.85, 0.9, 0.05, 0.8}}},
		{300, []string{"fresh-held"}, []least{{0.9, 0.9, 0.05, 0.8}}},
		{5000, []string{"many-dev", "many-held"}, []least{{0.8, 0.85, 0.05, 0.6}, {0.75, 0.9, 0.05, 0.6}}},
		{5000, []string{"fresh-held"}, []least{{0.8, 0.75, 0.05, 0.6}}},
	} {
		t.Run(fmt.Sprint(tt.skills, " ", tt.sets[0]), func(t *testing.T) {
			if tt.skills > 300 && os.Getenv("SATCHEL_RECALL") == "" {
				t.Skip("SATCHEL_RECALL is not set: large catalogs take minutes")
			}
			c := mustOpen(t, of(tt.skills, tt.sets...), WithReading(source.Reading{MaxDepth: 12, Nested: true}))
			for i, set := range tt.sets {
				least := tt.least[i]
				s := suggestAll(t, c, messagesOf(t, set))
				t.Logf("%s: %s", set, &s)
				if float64(s.right) < least.right*float64(s.requests) || float64(s.terseRight) < least.terse*float64(s.terse) ||
					float64(s.falseAlarms) > least.none*float64(s.none) || float64(s.beside) > least.beside*float64(s.requests) {
					t.Errorf("%s: %s; want at least %+v", set, &s, least)
				}
			}
		})
	}
}

// BenchmarkSuggestions searches skills for the messages of the development set.
func BenchmarkSuggestions(b *testing.B) {
	messages := messagesOf(b, "many-dev")
	wanted := map[string]bool{}
	for _, m := range messages {
		wanted[m.skill] = true
	}
	delete(wanted, "")
	for _, n := range []int{300, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := mustOpen(b, []source.Root{source.From("shelf", corpusShelf(b, n, maps.Clone(wanted)))})
			if err := c.Index(b.Context()); err != nil {
				b.Fatal(err)
			}
			var times []time.Duration
			for b.Loop() {
				q := Query{Phrasings: []string{messages[len(times)%len(messages)].text}, Messages: true, Limit: 3}
				began := time.Now()
				if _, err := c.Search(b.Context(), q); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-µs")
		})
	}
}
