package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// markdown prints a table of Markdown with a line for each session: the prices of the systems by
// policy, and Satchel's to the lowest of the others. A line for each kind has the means.
func markdown(out io.Writer, all []*Figures) {
	var sessions, kinds, policies, systems []string
	prices := map[string]*Figures{}
	for _, f := range all {
		sessions, kinds = appendNew(sessions, f.Session), appendNew(kinds, f.Kind)
		policies, systems = appendNew(policies, f.Policy), appendNew(systems, f.System)
		prices[f.Session+" "+f.Policy+" "+f.System] = f
	}
	fmt.Fprintf(out, "\n| | %s |\n|%s\n", strings.Join(policies, " | "), strings.Repeat("---|", len(policies)+1))
	for _, kind := range kinds {
		ratios := map[string][]float64{}
		for _, session := range sessions {
			if !slices.ContainsFunc(all, func(f *Figures) bool { return f.Session == session && f.Kind == kind }) {
				continue
			}
			fmt.Fprintf(out, "| `%s` |", session)
			for _, policy := range policies {
				var cells []string
				for _, system := range systems {
					if f := prices[session+" "+policy+" "+system]; f != nil {
						cells = append(cells, thousands(f.Price))
					}
				}
				fmt.Fprintf(out, " %s", strings.Join(cells, " / "))
				f := prices[session+" "+policy+" satchel"]
				if f != nil {
					if lowest := cheapest(all, f); lowest > 0 {
						ratios[policy] = append(ratios[policy], f.Price/lowest)
						fmt.Fprintf(out, " = **%.2f**", f.Price/lowest)
					}
				}
				fmt.Fprint(out, " |")
			}
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "| **%s**, mean of %d |", kind, len(ratios[policies[0]]))
		for _, policy := range policies {
			fmt.Fprintf(out, " **%.2f** |", mean(ratios[policy]))
		}
		fmt.Fprintln(out)
	}
}

// appendNew appends s to list unless the list has it.
func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// thousands formats a price with a comma.
func thousands(price float64) string {
	n := int(math.Round(price))
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// mean returns the geometric mean, NaN of no numbers.
func mean(all []float64) float64 {
	logs := 0.0
	for _, x := range all {
		logs += math.Log(x)
	}
	return math.Exp(logs / float64(len(all)))
}
