//go:build unix

package page_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/testing/browsertest"
	"github.com/satchel-go/satchel/internal/tracing/page"
)

// The bounds of a page of 10,000 calls. A loaded machine gets some of them times slack.
const (
	mostPage   = 64 << 20
	mostMaking = 10 * time.Second
	mostOpen   = 2 * time.Second
	mostFrame  = 50.0 // milliseconds
	slack      = 4
)

func TestTenThousandCalls(t *testing.T) {
	trace := longTrace(t, 10_000)
	file := filepath.Join(t.TempDir(), "long.html")
	begin := time.Now()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Write(f, "long.jsonl", trace); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	making := time.Since(begin)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > mostPage || making > mostMaking {
		t.Errorf("the page has %d bytes and takes %s, want at most %d and %s", info.Size(), making, mostPage, mostMaking)
	}
	p := browsertest.NewPage(t)
	begin = time.Now()
	p.Open("file://" + file)
	p.Wait(`document.documentElement.dataset.ready === "true"`)
	opening := time.Since(begin)
	if opening > slack*mostOpen {
		t.Errorf("the page opens in %s, want %s", opening, mostOpen)
	}
	v := &viewer{Page: p, t: t}
	v.check("all calls are counted", "document.querySelector('#timeline').dataset.calls", "10000")
	v.check("calls in view are in the document", "(() => { const n = document.querySelectorAll('#timeline [data-call]').length; return n > 10 && n < 200; })()", "true")
	var frames []float64
	p.Eval(`(async () => {
		const frames = [];
		let before = await new Promise(requestAnimationFrame);
		for (let i = 0; i < 120; i++) {
			scrollBy(0, i % 40 === 39 ? 50000 : 700);
			const now = await new Promise(requestAnimationFrame);
			frames.push(now - before);
			before = now;
		}
		return frames;
	})()`, &frames)
	slices.Sort(frames)
	if nine := frames[len(frames)*9/10]; nine > slack*mostFrame {
		t.Errorf("nine of ten frames take up to %.0f ms, want %.0f", nine, mostFrame)
	}
	v.check("the calls of the place are drawn", `(() => {
		const seen = [...document.querySelectorAll('#timeline [data-call]')].filter((c) => c.getBoundingClientRect().top < innerHeight && c.getBoundingClientRect().bottom > 100);
		return seen.length > 5;
	})()`, "true")
	v.openCall("invoices/9000")
	v.check("messages of a late call", "document.querySelectorAll('#call [data-message]').length === request(callNamed('invoices/9000')).length", "true")
	p.Press("Escape")
	v.check("the focus", focused, "invoices/9000")
	p.Press("j", "j")
	v.check("the focus", focused, "invoices/9002")
	p.Press("/")
	p.Type("Answer number 8.765µs")
	p.Press("Enter")
	v.check("the first hit", opened, "invoices/8766")
	t.Logf("%d bytes, made in %s, opened in %s, nine of ten frames within %.1f ms", info.Size(), making.Round(time.Millisecond), opening.Round(time.Millisecond), frames[len(frames)*9/10])
}
