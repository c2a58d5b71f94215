package report

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
)

// slack is the ratio of costs up to which a peer does not count as cheaper.
const slack = 1.005

// defaultRow compares Satchel's default with the others in the conversations of one kind.
type defaultRow struct {
	kind string
	// best and cheapest sum the logarithms of the default's cost divided by that of the best
	// clearing in hindsight, and by the cheapest system's. peers is cheapest for the systems that
	// are not Satchel. worst is the largest ratio to the cheapest system.
	n, best, cheapest, peers, worst float64
	// ahead counts the conversations in which no peer is cheaper by more than slack.
	ahead float64
}

// add adds a conversation. of holds what each system has cost, the default first.
func (r *defaultRow) add(of []*measure.Conversation, price string) {
	var mine *measure.Conversation
	least, peer := math.Inf(1), math.Inf(1)
	for _, m := range of {
		if len(m.Unmet) > 0 {
			continue
		}
		isSatchel := strings.HasPrefix(m.System, "satchel")
		if isSatchel && strings.HasPrefix(m.Variant, "adaptive") && mine == nil {
			mine = m
		}
		least = min(least, m.At(price).ITE)
		if !isSatchel {
			peer = min(peer, m.At(price).ITE)
		}
	}
	if mine == nil {
		return
	}
	cost := mine.At(price).ITE
	r.n++
	r.best += math.Log(cost / mine.Hindsight[price])
	r.cheapest += math.Log(cost / least)
	r.peers += math.Log(cost / peer)
	r.worst = max(r.worst, cost/least)
	if cost <= slack*peer {
		r.ahead++
	}
}

// writeDefault writes a table that compares Satchel's default with the others, kind by kind.
func writeDefault(w *strings.Builder, all []*measure.Conversation, price cachemodel.Price, kinds []string) {
	rows := make([]*defaultRow, len(kinds))
	for i, kind := range kinds {
		rows[i] = &defaultRow{kind: kind}
	}
	for _, name := range scenarios(all) {
		of := byCost(all, name, price.Name)
		for _, r := range rows {
			if r.kind == of[0].Kind || r.kind == everyKind {
				r.add(of, price.Name)
			}
		}
	}
	if rows[len(rows)-1].n == 0 { // the default was not played
		return
	}
	fmt.Fprintln(w, "the default")
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "\tto the best\tto the cheapest\tworst to that\tto the cheapest peer\tno peer 0.5 % cheaper\t")
	for _, r := range rows {
		fmt.Fprintf(tab, "%s\t%.3f\t%.3f\t%.2f\t%.3f\t%.0f %%\t\n", r.kind,
			math.Exp(r.best/r.n), math.Exp(r.cheapest/r.n), r.worst, math.Exp(r.peers/r.n), 100*r.ahead/r.n)
	}
	tab.Flush() //nolint:errcheck // a strings.Builder takes everything
	w.WriteByte('\n')
}
