package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
)

func measured() []*measure.Conversation {
	conversation := func(scenario, system string, ite float64) *measure.Conversation {
		return &measure.Conversation{
			Scenario: scenario, System: system, Variant: "<v>", Lost: []measure.Loss{},
			Totals: cachemodel.Totals{
				Requests: 2, Prompt: 300, Peak: 200, Fixed: 50,
				Sizes: []int{100, 200 + int(ite)%7}, Breaks: []cachemodel.Break{{Request: 1, Block: "tool", Lost: 20}},
				Costs: []cachemodel.Cost{{Price: "p", Read: 100, Written: 150, ITE: ite, Bound: 160, Ratio: ite / 160}},
			},
		}
	}
	return []*measure.Conversation{
		conversation("one", "peer", 240), conversation("one", "satchel", 210), conversation("two", "peer", 100),
		conversation("one", "full-injection", 9000),
	}
}

func prices() []cachemodel.Price {
	return []cachemodel.Price{{Name: "p", Models: "M", Read: 0.1, Write: 1, Model: cachemodel.Stepped(1, 1), Source: "src", Date: "2026-10"}}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := Table(&b, measured(), prices()); err != nil {
		t.Fatal(err)
	}
	want := `one at p: read 0.1, write 1, automatic: every prefix, token by token
  cost  of bound  of best  calls  prompt  cached  written  peak  fixed  breaks  lost  system
   210     1.312        -      2     300     100      150   200     50       1     0  satchel <v>
   240     1.500        -      2     300     100      150   200     50       1     0  peer <v>
  9000    56.250        -      2     300     100      150   200     50       1     0  full-injection <v>

two at p: read 0.1, write 1, automatic: every prefix, token by token
  cost  of bound  of best  calls  prompt  cached  written  peak  fixed  breaks  lost  system
   100     0.625        -      2     300     100      150   200     50       1     0  peer <v>

all scenarios: cost
     p  scenarios  system
   340          2  peer <v>
   210          1  satchel <v>
  9000          1  full-injection <v>
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, measured(), prices()); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Prices        []struct{ Name, Rule, Source string }
		Conversations []measure.Conversation
	}
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Prices) != 1 || d.Prices[0].Source != "src" || len(d.Conversations) != 4 || d.Conversations[1].Costs[0].ITE != 210 {
		t.Errorf("%+v", d)
	}
}

// The page shows every system and loads nothing from elsewhere; names are escaped.
func TestHTML(t *testing.T) {
	var b bytes.Buffer
	if err := HTML(&b, measured(), prices()); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for text, n := range map[string]int{
		"<svg viewBox": 2 * 2, "satchel &lt;v&gt;": 4, "<v>": 0, "http": 0, "<script": 0, "src=": 0, "… 9,000": 1, "<circle": 3, "56.250": 1,
	} {
		if got := strings.Count(page, text); got != n {
			t.Errorf("%q is there %d times, want %d", text, got, n)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 999.6: "1,000", 12345: "12,345", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%v is written %q, want %q", n, got, want)
		}
	}
	for highest, want := range map[int]int{1: 1, 3: 1, 7: 1, 10: 2, 4000: 1000, 9414: 2000, 30977: 5000} {
		if got := step(highest); got != want {
			t.Errorf("a grid to %d has a line each %d, want %d", highest, got, want)
		}
	}
}

func TestKinds(t *testing.T) {
	all := measured()
	for _, m := range all {
		m.Kind, m.Hindsight = map[string]string{"one": "a", "two": "b"}[m.Scenario], map[string]float64{"p": 200}
	}
	var b, page bytes.Buffer
	if err := Kinds(&b, all, prices()); err != nil {
		t.Fatal(err)
	}
	want := `2 conversations at p: read 0.1, write 1, automatic: every prefix, token by token
geometric mean to the best clearing in hindsight
       a      b     all   sum  system
   1.050    NaN   1.050   210  satchel <v>
   1.200  0.500   0.775   340  peer <v>
  45.000    NaN  45.000  9000  full-injection <v>

the worst conversation
       a      b     all   sum  system
   1.050    NaN   1.050   210  satchel <v>
   1.200  0.500   1.200   340  peer <v>
  45.000    NaN  45.000  9000  full-injection <v>

the cheapest system in so many of a hundred
    a    b  all   sum  system
  100  NaN  100   210  satchel <v>
    0  100   50   340  peer <v>
    0  NaN    0  9000  full-injection <v>

`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if err := HTML(&page, all, prices()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "Random conversations by kind") || strings.Contains(page.String(), "Tokens of each request") {
		t.Error("the page does not show kinds in place of scenarios")
	}
}

// The default is compared with all systems that gave the task what it needs, and with the peers
// among them.
func TestDefault(t *testing.T) {
	all := measured()
	for _, m := range all {
		m.Kind, m.Hindsight = map[string]string{"one": "a", "two": "b"}[m.Scenario], map[string]float64{"p": 200}
		if m.System == "satchel" {
			m.Variant = "adaptive/tool-result"
		}
	}
	var b bytes.Buffer
	if err := Kinds(&b, all, prices()); err != nil {
		t.Fatal(err)
	}
	want := `the default
       to the best  to the cheapest  worst to that  to the cheapest peer  no peer 0.5 % cheaper
    a        1.050            1.000           1.00                 0.875                  100 %
`
	if !strings.Contains(b.String(), want) {
		t.Errorf("got\n%s\nwant in it\n%s", b.String(), want)
	}
}
