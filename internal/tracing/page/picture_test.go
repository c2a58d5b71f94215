//go:build unix

package page_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPictures takes the pictures of docs/traces.md. With -update it keeps them.
func TestPictures(t *testing.T) {
	one := open(t, sampleTrace(t, "whole", 1))
	two := openComparison(t, sampleTrace(t, "whole", 1), sampleTrace(t, "whole", 0.5))
	for _, p := range []struct {
		v                  *viewer
		file, scheme, hash string
		width, height      int
	}{
		{two, "trace-comparison.png", "light", "", 1280, 720},
		{one, "trace-timeline.png", "light", "", 1280, 980},
		{one, "trace-timeline-dark.png", "dark", "", 1280, 980},
		{one, "trace-call.png", "light", "#call=invoices%2F6", 1280, 980},
		{one, "trace-why.png", "light", "#tab=why", 1280, 720},
		{one, "trace-skills-dark.png", "dark", "#tab=skills", 1280, 480},
		{one, "trace-timeline-400.png", "light", "", 400, 860},
	} {
		v := p.v
		v.Scheme(p.scheme)
		v.Resize(p.width, p.height)
		v.Eval("location.hash = '"+p.hash+"'; document.activeElement.blur(); scrollTo(0, 0)", nil)
		v.Wait("viewer.followed === location.hash")
		v.Eval("document.activeElement.blur(); new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))", nil)
		picture := small(t, v.Picture())
		if len(picture) < 10_000 {
			t.Errorf("%s has %d bytes: is the page empty?", p.file, len(picture))
		}
		file := filepath.Join("..", "..", "..", "docs", "pictures", p.file)
		if *update {
			if err := os.WriteFile(file, picture, 0o644); err != nil {
				t.Fatal(err)
			}
		} else if _, err := os.Stat(file); err != nil {
			t.Errorf("a picture is missing: go test -run Pictures -update takes it: %v", err)
		}
	}
}

// small returns a picture in its 256 most frequent colours.
func small(t *testing.T, picture []byte) []byte {
	t.Helper()
	whole, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[color.RGBA]int{}
	at := whole.Bounds()
	for y := at.Min.Y; y < at.Max.Y; y++ {
		for x := at.Min.X; x < at.Max.X; x++ {
			counts[color.RGBAModel.Convert(whole.At(x, y)).(color.RGBA)]++
		}
	}
	colours := make([]color.RGBA, 0, len(counts))
	for c := range counts {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.RGBA) int { return counts[b] - counts[a] })
	palette := color.Palette{}
	for _, c := range colours[:min(256, len(colours))] {
		palette = append(palette, c)
	}
	few := image.NewPaletted(at, palette)
	draw.Draw(few, at, whole, at.Min, draw.Src)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
