package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
)

//go:embed page.html
var page string

// pageData is the data of the page.
type pageData struct {
	Sums      []*sum
	Scenarios []scenarioData
	Prices    []cachemodel.Price
	Kinds     []*kindTable
}

type scenarioData struct {
	Name   string
	Sizes  template.HTML
	Prices []priceData
}

type priceData struct {
	Price cachemodel.Price
	Bars  template.HTML
	Rows  []row
}

type row struct {
	*measure.Conversation
	Cost cachemodel.Cost
}

// HTML writes one self-contained page: the sums, the sizes of the requests of each scenario, and the
// costs at each price.
func HTML(w io.Writer, all []*measure.Conversation, prices []cachemodel.Price) error {
	t, err := template.New("page").Funcs(template.FuncMap{"n": number, "ofBest": ofBest, "percent": percent}).Parse(page)
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	data := pageData{Prices: prices, Sums: sumsOf(all, prices), Kinds: kindTables(all, prices)}
	var titles []string
	for _, s := range data.Sums {
		titles = append(titles, s.Title)
	}
	shown := scenarios(all)
	if data.Kinds != nil {
		shown = nil // they are too many
	}
	for _, name := range shown {
		s := scenarioData{Name: name, Sizes: sizesChart(byCost(all, name, prices[0].Name), titles)}
		for _, p := range prices {
			of := byCost(all, name, p.Name)
			d := priceData{Price: p, Bars: barsChart(of, p)}
			for _, m := range of {
				d.Rows = append(d.Rows, row{m, m.At(p.Name)})
			}
			s.Prices = append(s.Prices, d)
		}
		data.Scenarios = append(data.Scenarios, s)
	}
	return t.Execute(w, data)
}

// percent returns a share in percent.
func percent(share float64) string { return fmt.Sprintf("%.0f", 100*share) }

// number returns a number as the page shows it.
func number(n any) string {
	switch v := n.(type) {
	case int:
		return grouped(float64(v))
	case float64:
		return grouped(v)
	}
	return fmt.Sprint(n)
}
