//go:build unix

package page_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// views are what a reader sees of the sample trace, by the script that shows it.
var views = map[string]string{
	"timeline": "location.hash = ''",
	"call":     "location.hash = '#call=invoices%2F6'; document.querySelector('details.tools').open = true",
	"failed":   "location.hash = '#call=invoices%2F10'",
	"skills":   "location.hash = '#tab=skills'",
	"why":      "location.hash = '#tab=why'",
	"search":   "document.querySelector('#search').value = 'mail'; document.querySelector('#search').dispatchEvent(new Event('input')); location.hash = ''",
}

// poorContrast lists the texts in view whose contrast is below 4.5.
const poorContrast = `(() => {
	const parse = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
	const light = ([r, g, b]) => {
		const linear = [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
	};
	const over = (top, under) => {
		const alpha = top[3] ?? 1;
		return [0, 1, 2].map((i) => top[i] * alpha + under[i] * (1 - alpha));
	};
	const ground = (element) => {
		if (!element) return [255, 255, 255];
		const colour = parse(getComputedStyle(element).backgroundColor);
		return (colour[3] ?? 1) === 1 ? colour : over(colour, ground(element.parentElement));
	};
	const found = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	let seen = 0;
	while (walker.nextNode()) {
		const element = walker.currentNode.parentElement;
		if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest('script,noscript')) continue;
		seen++;
		const under = ground(element);
		const ink = over(parse(getComputedStyle(element).color), under);
		const [high, low] = [light(ink), light(under)].sort((a, b) => b - a);
		const contrast = (high + 0.05) / (low + 0.05);
		if (contrast < 4.5) found.push(walker.currentNode.data.slice(0, 40) + ': ' + contrast.toFixed(2));
	}
	return seen < 20 ? 'only ' + seen + ' texts are in view' : found.join('\n');
})()`

// outside lists the elements that stand beyond the right edge of the page.
const outside = `(() => {
	const width = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > width) return 'the page is ' + document.documentElement.scrollWidth + ' pixels wide';
	return [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && !e.closest('.table-frame, .clamped, .marks, svg') && e.getBoundingClientRect().right > width + 1)
		.map((e) => e.outerHTML.slice(0, 80)).slice(0, 5).join('\n');
})()`

func TestLooks(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	for _, scheme := range []string{"light", "dark"} {
		v.Scheme(scheme)
		for _, width := range []int{1280, 400} {
			v.Resize(width, 900)
			for name, show := range views {
				v.Eval(show, nil)
				v.Wait("viewer.followed === location.hash")
				v.check(fmt.Sprintf("contrast of %s, %s, %d pixels", name, scheme, width), poorContrast, "")
				v.check(fmt.Sprintf("what stands outside of %s, %s, %d pixels", name, scheme, width), outside, "")
			}
		}
	}
}

func TestLooksOfAComparison(t *testing.T) {
	v := openComparison(t, sampleTrace(t, "whole", 1), sampleTrace(t, "digests", 0.5))
	for _, scheme := range []string{"light", "dark"} {
		v.Scheme(scheme)
		for _, width := range []int{1280, 400} {
			v.Resize(width, 900)
			for _, tab := range []string{"", "#tab=skills", "#tab=why"} {
				v.Eval(fmt.Sprintf("location.hash = %q", tab), nil)
				v.Wait("viewer.followed === location.hash")
				v.check(fmt.Sprintf("contrast of %q, %s, %d pixels", tab, scheme, width), poorContrast, "")
				v.check(fmt.Sprintf("what stands outside of %q, %s, %d pixels", tab, scheme, width), outside, "")
			}
		}
	}
}

// sights are linear RGB matrices of how people see colours: all of them, and without one of the
// three cones (Machado, Oliveira, Fernandes 2009).
var sights = map[string][9]float64{
	"usual":        {1, 0, 0, 0, 1, 0, 0, 0, 1},
	"protanopia":   {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deuteranopia": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritanopia":   {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

// seen returns a colour in OKLab as a sight gives it.
func seen(rgb [3]float64, sight [9]float64) [3]float64 {
	var linear, s [3]float64
	for i, v := range rgb {
		if v /= 255; v <= 0.04045 {
			linear[i] = v / 12.92
		} else {
			linear[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	for i := range s {
		s[i] = min(1, max(0, sight[3*i]*linear[0]+sight[3*i+1]*linear[1]+sight[3*i+2]*linear[2]))
	}
	l := math.Cbrt(0.4122214708*s[0] + 0.5363325363*s[1] + 0.0514459929*s[2])
	m := math.Cbrt(0.2119034982*s[0] + 0.6806995451*s[1] + 0.1073969566*s[2])
	n := math.Cbrt(0.0883024619*s[0] + 0.2817188376*s[1] + 0.6299787005*s[2])
	return [3]float64{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*n,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*n,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*n,
	}
}

func TestColoursDifferForTheColourBlind(t *testing.T) {
	v := open(t, sampleTrace(t, "whole", 1))
	for _, scheme := range []string{"light", "dark"} {
		v.Scheme(scheme)
		var found map[string]string
		v.Eval(`Object.fromEntries([...document.querySelectorAll('[data-call="invoices/6"] [data-part]')].map((p) => [p.dataset.part, getComputedStyle(p).backgroundColor]))`, &found)
		if len(found) != 6 {
			t.Fatalf("%s: there are %d colours, want 6", scheme, len(found))
		}
		colours := map[string][3]float64{}
		for name, text := range found {
			var rgb [3]float64
			for i, field := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "rgb("), ")"), ", ") {
				var err error
				if rgb[i], err = strconv.ParseFloat(field, 64); err != nil {
					t.Fatal(err)
				}
			}
			colours[name] = rgb
		}
		for sight, matrix := range sights {
			for a := range colours {
				for b := range colours {
					p, q := seen(colours[a], matrix), seen(colours[b], matrix)
					if d := math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2])); a < b && d < 0.12 {
						t.Errorf("%s, %s: %s and %s differ by %.3f, want 0.12", scheme, sight, a, b, d)
					}
				}
			}
		}
	}
}
