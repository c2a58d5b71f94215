package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
)

// everyKind is the column of all conversations.
const everyKind = "all"

// kindTable compares systems at one price, kind by kind.
type kindTable struct {
	Price cachemodel.Price
	Kinds []string
	Count []int
	Rows  []*kindRow
}

// kindRow is one system's row. For each kind it holds three numbers, NaN if the kind was not
// played. Mean is the geometric mean of the cost relative to the best clearing in hindsight,
// and Worst the worst conversation by that measure. Share is the share of conversations in which
// the system is the cheapest. Only systems that gave the task all that it needs are compared.
// Sum is the total cost.
type kindRow struct {
	Title              string
	Mean, Worst, Share []float64
	Plays              []int
	Sum                float64
}

// kindTables returns a table for each price, or nil if no conversation has a kind.
func kindTables(all []*measure.Conversation, prices []cachemodel.Price) []*kindTable {
	var kinds []string
	for _, m := range all {
		if m.Kind != "" && !slices.Contains(kinds, m.Kind) {
			kinds = append(kinds, m.Kind)
		}
	}
	if kinds == nil {
		return nil
	}
	kinds = append(kinds, everyKind)
	var tables []*kindTable
	for _, p := range prices {
		t := &kindTable{Price: p, Kinds: kinds, Count: make([]int, len(kinds))}
		for _, name := range scenarios(all) {
			t.add(byCost(all, name, p.Name))
		}
		for _, r := range t.Rows {
			for i, n := range r.Plays {
				r.Mean[i] = math.Exp(r.Mean[i] / float64(n)) // NaN where it was never played
				r.Worst[i] += 0 * r.Mean[i]
				r.Share[i] /= float64(n)
			}
		}
		slices.SortStableFunc(t.Rows, func(a, b *kindRow) int {
			if a.Sum < b.Sum {
				return -1
			}
			return 1
		})
		tables = append(tables, t)
	}
	return tables
}

// add counts one conversation, the cheapest system first.
func (t *kindTable) add(of []*measure.Conversation) {
	least := math.Inf(1)
	for _, m := range of {
		if len(m.Unmet) == 0 {
			least = min(least, m.At(t.Price.Name).ITE)
		}
	}
	columns := []int{slices.Index(t.Kinds, of[0].Kind), len(t.Kinds) - 1}
	for _, i := range columns {
		t.Count[i]++
	}
	for _, m := range of {
		r := t.row(title(m))
		cost := m.At(t.Price.Name).ITE
		ratio := cost / m.Hindsight[t.Price.Name]
		r.Sum += cost
		for _, i := range columns {
			r.Mean[i] += math.Log(ratio)
			r.Worst[i] = max(r.Worst[i], ratio)
			r.Plays[i]++
			if cost <= least && len(m.Unmet) == 0 {
				r.Share[i]++
			}
		}
	}
}

func (t *kindTable) row(title string) *kindRow {
	for _, r := range t.Rows {
		if r.Title == title {
			return r
		}
	}
	n := len(t.Kinds)
	r := &kindRow{Title: title, Mean: make([]float64, n), Worst: make([]float64, n), Share: make([]float64, n), Plays: make([]int, n)}
	t.Rows = append(t.Rows, r)
	return r
}

// Kinds writes four tables for each price. The first compares the default with the others. The
// other three are of systems by kinds of conversations. They show
// the geometric mean of the cost relative to the best clearing in hindsight, the worst
// conversation, and how often in a hundred the system is the cheapest.
func Kinds(w io.Writer, all []*measure.Conversation, prices []cachemodel.Price) error {
	var b strings.Builder
	for _, t := range kindTables(all, prices) {
		fmt.Fprintf(&b, "%d conversations at %s: %s\n", t.Count[len(t.Count)-1], t.Price.Name, priceLine(t.Price))
		writeDefault(&b, all, t.Price, t.Kinds)
		t.write(&b, "geometric mean to the best clearing in hindsight", "%.3f", 1, func(r *kindRow) []float64 { return r.Mean })
		t.write(&b, "the worst conversation", "%.3f", 1, func(r *kindRow) []float64 { return r.Worst })
		t.write(&b, "the cheapest system in so many of a hundred", "%.0f", 100, func(r *kindRow) []float64 { return r.Share })
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *kindTable) write(b *strings.Builder, what, format string, scale float64, of func(*kindRow) []float64) {
	fmt.Fprintln(b, what)
	tab := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, strings.Join(t.Kinds, "\t")+"\tsum\t  system")
	for _, r := range t.Rows {
		for _, v := range of(r) {
			fmt.Fprintf(tab, format+"\t", scale*v)
		}
		fmt.Fprintf(tab, "%.0f\t  %s\n", r.Sum, r.Title)
	}
	tab.Flush() //nolint:errcheck // a strings.Builder takes everything
	b.WriteByte('\n')
}
