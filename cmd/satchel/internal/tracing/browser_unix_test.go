//go:build unix

package tracing

import (
	"bytes"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/testing/browsertest"
	"github.com/satchel-go/satchel/internal/tracing/page"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// A browser shows a served page as one in a file: the headers forbid nothing that the page needs.
func TestServedPageInABrowser(t *testing.T) {
	trace, err := tracelog.ReadFiles("../../../../internal/tracing/tracelog/testdata/whole.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var html bytes.Buffer
	if err := page.Write(&html, "whole", trace); err != nil {
		t.Fatal(err)
	}
	h := &pageHandler{path: "/KEY/", policy: page.Policy(), page: func() []byte { return html.Bytes() }}
	server := httptest.NewServer(h)
	defer server.Close()
	h.host = server.Listener.Addr().String()
	p := browsertest.NewPage(t)
	p.Open(server.URL + "/KEY/")
	p.Wait(`document.documentElement.dataset.ready === "true"`)
	p.Wait(`document.querySelectorAll("#timeline [data-call]").length === 4`)
	for _, complaint := range p.Complaints() {
		if !strings.Contains(complaint, "favicon") {
			t.Errorf("the page complains: %s", complaint)
		}
	}
}
