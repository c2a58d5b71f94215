package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
)

var (
	update = flag.Bool("update", false, "write the golden tables anew, unless a cost of Satchel's rises by more than the tolerance")
	accept = flag.Bool("accept", false, "with -update: write them even so")
)

// tolerance is by how much a cost may rise without somebody saying so.
const tolerance = 0.005

// Each figure is reproducible to the token: the table is the same on every
// machine. A cost of Satchel's that rises by more than half a percent is more
// than a change: it must be accepted.
func TestGoldenTables(t *testing.T) {
	t.Run("own", func(t *testing.T) { golden(t, own(t), "testdata/own.txt") })
	t.Run("corpus", func(t *testing.T) { golden(t, corpus(t), "testdata/corpus.txt") })
}

func golden(t *testing.T, s suite, file string) {
	t.Helper()
	all := measured(t, s)
	got := table(all)
	old := readTable(t, file)
	for key, costs := range costsOf(got) {
		for i, cost := range costs {
			was := costsOf(old)[key]
			if strings.Contains(key, " satchel") && i < len(was) && cost > was[i]*(1+tolerance) && !*accept {
				t.Errorf("%s, price %d: cost rises from %.0f to %.0f, by %.2f %%", key, i, was[i], cost, 100*(cost/was[i]-1))
			}
		}
	}
	if got == old {
		return
	}
	if !*update || t.Failed() {
		t.Errorf("%s has changed:\n%s\n%srun the test with -update if that is meant", file, only("-", old, got), only("+", got, old))
		return
	}
	if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
		t.Fatal(err)
	}
}

// suites are what was played and measured so far: the corpus takes a while.
var suites sync.Map // of *outcome, by suite

type outcome struct {
	captures *captures
	all      []*measure.Conversation
}

func outcomeOf(t testing.TB, s suite) *outcome {
	t.Helper()
	if known, ok := suites.Load(s); ok {
		return known.(*outcome)
	}
	c, err := s.play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.measure(t.Context(), cachemodel.Prices())
	if err != nil {
		t.Fatal(err)
	}
	o := &outcome{c, all}
	suites.Store(s, o)
	return o
}

func measured(t testing.TB, s suite) []*measure.Conversation {
	t.Helper()
	return outcomeOf(t, s).all
}

// table is the golden form: a line for each conversation, with its costs in the
// order of the prices.
func table(all []*measure.Conversation) string {
	var b strings.Builder
	b.WriteString("# scenario system variant: calls, prompt, peak, fixed, breaks, lost | cost at")
	for _, p := range cachemodel.Prices() {
		b.WriteString(" " + p.Name)
	}
	b.WriteByte('\n')
	for _, m := range all {
		fmt.Fprintf(&b, "%s %s %s: %d %d %d %d %d %d |", m.Scenario, m.System, m.Variant,
			m.Requests, m.Prompt, m.Peak, m.Fixed, len(m.Breaks), m.Missing())
		for _, c := range m.Costs {
			fmt.Fprintf(&b, " %.1f", c.ITE)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func readTable(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !(*update && os.IsNotExist(err)) {
		t.Fatal(err)
	}
	return string(data)
}

// costsOf reads the costs of a table by conversation.
func costsOf(table string) map[string][]float64 {
	costs := map[string][]float64{}
	lines := bufio.NewScanner(strings.NewReader(table))
	for lines.Scan() {
		key, rest, ok := strings.Cut(lines.Text(), ": ")
		if !ok || strings.HasPrefix(key, "#") {
			continue
		}
		_, list, _ := strings.Cut(rest, "|")
		for field := range strings.FieldsSeq(list) {
			if n, err := strconv.ParseFloat(field, 64); err == nil {
				costs[key] = append(costs[key], n)
			}
		}
	}
	return costs
}

// only are the lines of a that b does not have.
func only(mark, a, b string) string {
	var out strings.Builder
	for line := range strings.Lines(a) {
		if !strings.Contains("\n"+b, "\n"+line) {
			out.WriteString(mark + " " + line)
		}
	}
	return out.String()
}
