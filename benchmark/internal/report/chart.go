package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
)

const (
	chartWidth  = 880
	labelWidth  = 270
	barHeight   = 18
	linesHeight = 260
	colours     = 14 // of the page
)

// barsChart draws the cost of each system, divided into tokens read from the cache, written to it,
// and neither. It cuts bars that are far longer than the cheapest, and marks them.
func barsChart(of []*measure.Conversation, p cachemodel.Price) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="cost by system">`, chartWidth, len(of)*(barHeight+6)+4)
	longest := 0.0
	for _, m := range of {
		longest = max(longest, min(m.At(p.Name).ITE, 3*of[0].At(p.Name).ITE))
	}
	scale := float64(chartWidth-labelWidth-90) / longest
	for i, m := range of {
		c, y, x := m.At(p.Name), i*(barHeight+6)+2, float64(labelWidth)
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end"%s>%s</text>`, labelWidth-8, y+13, emphasis(m), html.EscapeString(title(m)))
		left := longest
		for _, part := range []struct {
			class string
			ite   float64
		}{
			{"read", p.Read * float64(c.Read)},
			{"written", p.Write * float64(c.Written)},
			{"fresh", float64(m.Prompt - c.Read - c.Written)},
		} {
			ite := min(part.ite, left)
			left -= ite
			fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d"/>`, part.class, x, y, ite*scale, barHeight)
			x += ite * scale
		}
		cut := ""
		if c.ITE > longest {
			cut = "… "
		}
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s%s</text>`, x+6, y+13, cut, grouped(c.ITE))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // every text in it is escaped above
}

// sizesChart draws the size of each request, with a dot where the prefix broke.
// A system has the same colour on the whole page: its place among titles.
func sizesChart(of []*measure.Conversation, titles []string) template.HTML {
	of = distinct(of, titles)
	highest, longest := 1, 2
	for _, m := range of {
		highest, longest = max(highest, m.Peak), max(longest, m.Requests)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="tokens of each request">`, chartWidth, linesHeight+30)
	x := func(i int) float64 { return 50 + float64(i)*float64(chartWidth-300)/float64(longest-1) }
	y := func(n int) float64 {
		return float64(linesHeight) - float64(n)*float64(linesHeight-20)/float64(highest) + 5
	}
	for n := 0; n <= highest; n += step(highest) {
		fmt.Fprintf(&b, `<line class="grid" x1="50" x2="%.0f" y1="%.1f" y2="%.1f"/><text x="44" y="%.1f" text-anchor="end">%s</text>`, x(longest-1), y(n), y(n), y(n)+4, grouped(float64(n)))
	}
	for i, m := range of {
		colour := fmt.Sprintf("c%d", slices.Index(titles, title(m))%colours)
		fmt.Fprintf(&b, `<text class="%s" x="%d" y="%d"%s>%s</text>`, colour, chartWidth-240, 16+i*17, emphasis(m), html.EscapeString(title(m)))
	}
	for _, m := range slices.Backward(of) { // the first lies above the others
		colour := fmt.Sprintf("c%d", slices.Index(titles, title(m))%colours)
		fmt.Fprintf(&b, `<polyline class="%s" points="`, colour)
		for i, n := range m.Sizes {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(i), y(n))
		}
		b.WriteString(`"/>`)
		for _, br := range m.Breaks {
			fmt.Fprintf(&b, `<circle class="%s" cx="%.1f" cy="%.1f" r="3"/>`, colour, x(br.Request), y(m.Sizes[br.Request]))
		}
	}
	fmt.Fprintf(&b, `<text x="%.0f" y="%d">request 1 to %d</text></svg>`, x(0), linesHeight+26, longest)
	return template.HTML(b.String()) //nolint:gosec // every text in it is escaped above
}

// step returns the distance of the lines of a grid: a round number, so that four to ten lines reach
// highest.
func step(highest int) int {
	unit := math.Pow(10, math.Floor(math.Log10(max(1, float64(highest)/4))))
	for _, n := range []float64{5, 2} {
		if float64(highest) >= 4*n*unit {
			return int(n * unit)
		}
	}
	return int(unit)
}

// distinct returns the systems to draw, sorted by title. It leaves out full injection, which is off
// the scale, and systems whose requests have the sizes of an earlier one.
func distinct(of []*measure.Conversation, titles []string) []*measure.Conversation {
	var kept []*measure.Conversation
	for _, name := range titles {
		for _, m := range of {
			same := func(k *measure.Conversation) bool { return slices.Equal(k.Sizes, m.Sizes) }
			if title(m) == name && m.System != "full-injection" && !slices.ContainsFunc(kept, same) {
				kept = append(kept, m)
			}
		}
	}
	return kept
}

func emphasis(m *measure.Conversation) string {
	if strings.HasPrefix(m.System, "satchel") {
		return ` font-weight="bold"`
	}
	return ""
}

// grouped returns a number without fraction, with a comma every three digits.
func grouped(n float64) string {
	text := fmt.Sprintf("%.0f", n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
