package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/satchel-go/satchel/benchmark/internal/hindsight"
	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/loadmode"
)

// frontier measures the cost of the default with more and less caution, at prices that cache every
// prefix.
type frontier struct {
	prices []cachemodel.Price
	rows   []*frontierRow
}

// frontierRow is the result for one caution at one price, over all conversations.
type frontierRow struct {
	lifetime.Caution
	price cachemodel.Price
	// n counts conversations. best and cheapest sum the logarithms of the row's cost divided by the
	// best cost in hindsight, and by the cheapest system's. worst is the largest ratio to the latter.
	n, best, cheapest, worst float64
	// These count conversations: 30 % above the cheapest system, dearer than Eino's middleware,
	// and dearer than the cheapest system that is not Satchel.
	above, dearer, dearerThanAny float64
}

// margins and rentLimits are the values to try.
var (
	margins    = []float64{0, 0.15, 0.3, 0.5, 0.75, 1, 1.5, 2.5}
	rentLimits = []float64{0.5, 1, 1.5, 3}
)

func newFrontier(prices []cachemodel.Price) *frontier {
	f := &frontier{}
	caution := lifetime.DefaultCaution()
	for _, p := range prices {
		if !strings.HasPrefix(p.Name, "prefix-") {
			continue
		}
		f.prices = append(f.prices, p)
		for _, margin := range margins {
			f.rows = append(f.rows, &frontierRow{Caution: lifetime.Caution{Margin: margin, RentLimit: caution.RentLimit}, price: p})
		}
		for _, limit := range rentLimits {
			if limit != caution.RentLimit {
				f.rows = append(f.rows, &frontierRow{Caution: lifetime.Caution{Margin: caution.Margin, RentLimit: limit}, price: p})
			}
		}
	}
	return f
}

// slack is the ratio of costs up to which two systems count as equal.
const slack = 1.005

// add adds a conversation. of holds the measures of all systems that have played it.
func (f *frontier) add(c *hindsight.Conversation, of []*measure.Conversation) {
	for _, r := range f.rows {
		cost := c.Play(hindsight.Prices{Read: r.price.Read, Write: r.price.Write, TTL: r.price.TTL},
			hindsight.Adaptive(loadmode.DefaultPrices(), r.Caution)).Cost
		least, peer, reader := cost, math.Inf(1), math.Inf(1)
		for _, m := range of {
			if len(m.Unmet) > 0 {
				continue
			}
			paid := m.At(r.price.Name).ITE
			least = min(least, paid)
			if !strings.HasPrefix(m.System, "satchel") {
				peer = min(peer, paid)
			}
			if m.System == "eino-skill" {
				reader = min(reader, paid)
			}
		}
		r.n++
		r.best += math.Log(cost / min(cost, of[0].Hindsight[r.price.Name]))
		r.cheapest += math.Log(cost / least)
		r.worst = max(r.worst, cost/least)
		for counter, is := range map[*float64]bool{&r.above: cost > 1.3*least, &r.dearer: cost > slack*reader, &r.dearerThanAny: cost > slack*peer} {
			if is {
				*counter++
			}
		}
	}
}

// runFrontier plays random conversations and writes the frontier.
func (s *settings) runFrontier(ctx context.Context, prices []cachemodel.Price, out io.Writer) error {
	f := newFrontier(prices)
	plans, err := s.plans()
	if err != nil {
		return err
	}
	if _, err := playRandom(ctx, plans, f.prices, f); err != nil {
		return err
	}
	tab := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "price\tmargin\trent limit\tto the best\tto the cheapest\tworst\tabove 1.3\tEino not cheaper\tno peer cheaper\t")
	for _, r := range f.rows {
		fmt.Fprintf(tab, "%s\t%.2f\t%.1f\t%.3f\t%.3f\t%.2f\t%.0f\t%.0f %%\t%.0f %%\t\n", r.price.Name, r.Margin, r.RentLimit,
			math.Exp(r.best/r.n), math.Exp(r.cheapest/r.n), r.worst, r.above, 100*(1-r.dearer/r.n), 100*(1-r.dearerThanAny/r.n))
	}
	return tab.Flush()
}
