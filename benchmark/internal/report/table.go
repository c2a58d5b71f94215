// Package report writes measurements as a table for people, as JSON for programs, and as an HTML
// page with charts.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
)

// Table writes a table for each scenario and price, the cheapest system first,
// and one with the sums over all scenarios.
func Table(w io.Writer, all []*measure.Conversation, prices []cachemodel.Price) error {
	b := &strings.Builder{}
	for _, name := range scenarios(all) {
		for _, p := range prices {
			fmt.Fprintf(b, "%s at %s: %s\n", name, p.Name, priceLine(p))
			t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
			fmt.Fprintln(t, "cost\tof bound\tof best\tcalls\tprompt\tcached\twritten\tpeak\tfixed\tbreaks\tlost\t  system")
			for _, m := range byCost(all, name, p.Name) {
				c := m.At(p.Name)
				fmt.Fprintf(t, "%.0f\t%.3f\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t  %s\n", c.ITE, c.Ratio, ofBest(m, p.Name), m.Requests, m.Prompt,
					c.Read, c.Written, m.Peak, m.Fixed, len(m.Breaks), m.Missing(), title(m))
			}
			if err := t.Flush(); err != nil {
				return err
			}
			b.WriteByte('\n')
		}
	}
	writeSums(b, all, prices)
	_, err := io.WriteString(w, b.String())
	return err
}

// ofBest returns the ratio of the cost to that of the best clearing in hindsight, "-" if that is
// unknown.
func ofBest(m *measure.Conversation, price string) string {
	if m.Hindsight[price] == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", m.At(price).ITE/m.Hindsight[price])
}

func priceLine(p cachemodel.Price) string {
	return fmt.Sprintf("read %g, write %g, %s", p.Read, p.Write, p.Model.Rule)
}

func title(m *measure.Conversation) string { return m.System + " " + m.Variant }

// scenarios returns the names of the scenarios in their order.
func scenarios(all []*measure.Conversation) []string {
	var names []string
	for _, m := range all {
		if !slices.Contains(names, m.Scenario) {
			names = append(names, m.Scenario)
		}
	}
	return names
}

// byCost returns the conversations of a scenario, the cheapest first.
func byCost(all []*measure.Conversation, scenario, price string) []*measure.Conversation {
	var of []*measure.Conversation
	for _, m := range all {
		if m.Scenario == scenario {
			of = append(of, m)
		}
	}
	slices.SortStableFunc(of, func(a, b *measure.Conversation) int {
		switch x, y := a.At(price).ITE, b.At(price).ITE; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return of
}

// sum is the cost of a system over all its scenarios.
type sum struct {
	Title string
	ITE   []float64 // by price
	Plays int
}

// sumsOf returns the sums of all systems, in the order of their first conversations.
func sumsOf(all []*measure.Conversation, prices []cachemodel.Price) []*sum {
	var total []*sum
	for _, m := range all {
		i := slices.IndexFunc(total, func(s *sum) bool { return s.Title == title(m) })
		if i < 0 {
			total = append(total, &sum{Title: title(m), ITE: make([]float64, len(prices))})
			i = len(total) - 1
		}
		total[i].Plays++
		for j, p := range prices {
			total[i].ITE[j] += m.At(p.Name).ITE
		}
	}
	return total
}

func writeSums(b *strings.Builder, all []*measure.Conversation, prices []cachemodel.Price) {
	fmt.Fprintln(b, "all scenarios: cost")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, p := range prices {
		fmt.Fprintf(t, "%s\t", p.Name)
	}
	fmt.Fprintln(t, "scenarios\t  system")
	for _, s := range sumsOf(all, prices) {
		for _, ite := range s.ITE {
			fmt.Fprintf(t, "%.0f\t", ite)
		}
		fmt.Fprintf(t, "%d\t  %s\n", s.Plays, s.Title)
	}
	t.Flush() //nolint:errcheck // a strings.Builder takes everything
}

// document is the JSON form.
type document struct {
	Prices        []priceEntry            `json:"prices"`
	Conversations []*measure.Conversation `json:"conversations"`
}

type priceEntry struct {
	Name       string  `json:"name"`
	Models     string  `json:"models"`
	Read       float64 `json:"read"`
	Write      float64 `json:"write"`
	Rule       string  `json:"rule"`
	TTLSeconds float64 `json:"ttl_seconds"`
	Source     string  `json:"source"`
	Date       string  `json:"date"`
}

// JSON writes all measurements.
func JSON(w io.Writer, all []*measure.Conversation, prices []cachemodel.Price) error {
	d := document{Conversations: all}
	for _, p := range prices {
		d.Prices = append(d.Prices, priceEntry{p.Name, p.Models, p.Read, p.Write, p.Model.Rule, p.TTL.Seconds(), p.Source, p.Date})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(d)
}
