//go:build unix

package page_test

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/testing/browsertest"
	"github.com/satchel-go/satchel/internal/tracing/page"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

var update = flag.Bool("update", false, "write the pictures of docs/pictures")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(browsertest.Run(m))
}

// viewer is a page in a browser.
type viewer struct {
	*browsertest.Page
	t   testing.TB
	url string
}

// open opens the page of a trace.
func open(t testing.TB, of *tracelog.Trace, sections ...page.Section) *viewer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := page.Write(f, "invoices.jsonl", of, sections...); err != nil {
		t.Fatal(err)
	}
	return openFile(t, file)
}

// openComparison opens the page of two traces.
func openComparison(t testing.TB, a, b *tracelog.Trace) *viewer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "comparison.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := page.WriteComparison(f, page.Side{Title: "openai.jsonl", Trace: a}, page.Side{Title: "none.jsonl", Trace: b}); err != nil {
		t.Fatal(err)
	}
	return openFile(t, file)
}

// openFile opens a page. At the end of the test it must have asked for nothing but itself, and have
// complained of nothing.
func openFile(t testing.TB, file string) *viewer {
	t.Helper()
	v := &viewer{Page: browsertest.NewPage(t), t: t, url: "file://" + file}
	v.Open(v.url)
	v.Wait(`document.documentElement.dataset.ready === "true"`)
	t.Cleanup(func() {
		for _, request := range v.Requests() {
			if address, err := url.Parse(request); err != nil || address.Scheme != "file" && address.Scheme != "blob" || address.Scheme == "file" && address.Path != file {
				t.Errorf("the page asks for %.200s", request)
			}
		}
		if found := v.Complaints(); len(found) > 0 {
			t.Errorf("the page complains: %s", strings.Join(found, "\n"))
		}
	})
	return v
}

// check compares what JavaScript gives with a text.
func (v *viewer) check(what, script, want string) {
	v.t.Helper()
	if got := v.Text(script); got != want {
		v.t.Errorf("%s: %s gives %q, want %q", what, script, got, want)
	}
}

// openCall opens a call by its permalink.
func (v *viewer) openCall(name string) {
	v.t.Helper()
	v.Eval(fmt.Sprintf("location.hash = '#call=' + encodeURIComponent(%q)", name), nil)
	v.Wait(fmt.Sprintf("document.querySelector('#call')?.dataset.call === %q", name))
}
