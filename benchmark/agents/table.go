package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// table prints the figures of each session, and for each kind and policy Satchel's price to that
// of the cheapest other system.
func table(out io.Writer, all []*Figures) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "session\tpolicy\tsystem\trequests\tfirst\tfixed\ttexts\tprice\tof cheapest\tlargest\tbreaks\tlost\t")
	for _, f := range all {
		ratio := "-"
		if lowest := cheapest(all, f); lowest > 0 {
			ratio = fmt.Sprintf("%.2f", f.Price/lowest)
		}
		lost := 0
		for _, b := range f.Breaks {
			lost += b.Lost
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%.0f\t%.0f\t%.0f\t%s\t%d\t%d\t%d\t\n", f.Session, f.Policy, f.System, f.Requests, f.First, f.Fixed, f.Price-f.Fixed, f.Price, ratio, f.Largest, len(f.Breaks), lost)
	}
	_ = w.Flush() // to standard output
	type group struct{ kind, policy string }
	var groups []group
	for _, f := range all {
		if g := (group{f.Kind, f.Policy}); !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nkind\tpolicy\tsessions\tsatchel of the cheapest other\tworst\t")
	for _, g := range groups {
		var logs, worst float64
		n := 0
		for _, f := range all {
			if f.System != "satchel" || f.Kind != g.kind || f.Policy != g.policy {
				continue
			}
			if lowest := cheapest(all, f); lowest > 0 {
				n++
				logs += math.Log(f.Price / lowest)
				worst = max(worst, f.Price/lowest)
			}
		}
		if n > 0 {
			fmt.Fprintf(w, "%s\t%s\t%d\t%.2f\t%.2f\t\n", g.kind, g.policy, n, math.Exp(logs/float64(n)), worst)
		}
	}
	_ = w.Flush() // to standard output
}

// partsTable prints the parts of each price.
func partsTable(out io.Writer, all []*Figures) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\nsession\tpolicy\tsystem\t%s\tprice\t\n", strings.Join(partNames, "\t"))
	for _, f := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t", f.Session, f.Policy, f.System)
		for _, name := range partNames {
			fmt.Fprintf(w, "%.0f\t", f.Parts[name])
		}
		fmt.Fprintf(w, "%.0f\t\n", f.Price)
	}
	_ = w.Flush() // to standard output
}

// cheapest returns the lowest price of the systems other than Satchel for the session and policy
// of f, or 0 if there is none.
func cheapest(all []*Figures, f *Figures) float64 {
	lowest := 0.0
	for _, other := range all {
		if other.System != "satchel" && other.Session == f.Session && other.Policy == f.Policy && (lowest == 0 || other.Price < lowest) {
			lowest = other.Price
		}
	}
	return lowest
}
