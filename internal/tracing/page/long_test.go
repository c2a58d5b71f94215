//go:build unix

package page_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/tracing/page"
)

// mostPage bounds the page of 10,000 calls, in bytes.
const mostPage = 64 << 20

// scroll scrolls through a long page. It returns the milliseconds that the frames took, and the most calls
// that were in the document.
const scroll = `(async () => {
	const frames = [];
	let most = 0;
	let before = await new Promise(requestAnimationFrame);
	for (let i = 0; i < 120; i++) {
		scrollBy(0, i % 40 === 39 ? 50000 : 700);
		const now = await new Promise(requestAnimationFrame);
		frames.push(now - before);
		most = Math.max(most, document.querySelectorAll('#timeline [data-call]').length);
		before = now;
	}
	return {frames, most};
})()`

type scrolled struct {
	Frames []float64 `json:"frames"`
	Most   int       `json:"most"`
}

func TestTenThousandCalls(t *testing.T) {
	v := open(t, longTrace(t, 10_000))
	info, err := os.Stat(strings.TrimPrefix(v.url, "file://"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > mostPage {
		t.Errorf("the page has %d bytes, want at most %d", info.Size(), mostPage)
	}
	v.check("all calls are counted", "document.querySelector('#timeline').dataset.calls", "10000")
	v.check("calls in view are in the document", "document.querySelectorAll('#timeline [data-call]').length > 10", "true")
	var seen scrolled
	v.Eval(scroll, &seen)
	if seen.Most >= 200 {
		t.Errorf("%d calls were in the document at a time, want those in view", seen.Most)
	}
	v.check("the calls of the place are drawn", `(() => {
		const seen = [...document.querySelectorAll('#timeline [data-call]')].filter((c) => c.getBoundingClientRect().top < innerHeight && c.getBoundingClientRect().bottom > 100);
		return seen.length > 5;
	})()`, "true")
	v.openCall("invoices/9000")
	v.check("messages of a late call", "document.querySelectorAll('#call [data-message]').length === request(callNamed('invoices/9000')).length", "true")
	v.Press("Escape")
	v.check("the focus", focused, "invoices/9000")
	v.Press("j", "j")
	v.check("the focus", focused, "invoices/9002")
	v.Press("/")
	v.Type("Answer number 8.765µs")
	v.Press("Enter")
	v.check("the first hit", opened, "invoices/8766")
}

// BenchmarkTenThousandCalls makes the page of 10,000 calls, opens it and scrolls through it. Nine of ten
// frames take at most frame-ms.
func BenchmarkTenThousandCalls(b *testing.B) {
	trace := longTrace(b, 10_000)
	file := filepath.Join(b.TempDir(), "long.html")
	var making, opening time.Duration
	var frames []float64
	for b.Loop() {
		begin := time.Now()
		var made bytes.Buffer
		err := errors.Join(page.Write(&made, "long.jsonl", trace), os.WriteFile(file, made.Bytes(), 0o600))
		if err != nil {
			b.Fatal(err)
		}
		making += time.Since(begin)
		begin = time.Now()
		v := openFile(b, file)
		opening += time.Since(begin)
		var seen scrolled
		v.Eval(scroll, &seen)
		frames = append(frames, seen.Frames...)
	}
	slices.Sort(frames)
	b.ReportMetric(float64(making.Milliseconds())/float64(b.N), "making-ms")
	b.ReportMetric(float64(opening.Milliseconds())/float64(b.N), "opening-ms")
	b.ReportMetric(frames[len(frames)*9/10], "frame-ms")
}
