package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/engine/state"
)

// agent lists the loaded skills and the deliveries in short form.
func agent(r *state.Record) string {
	var b strings.Builder
	for _, a := range r.Active {
		fmt.Fprintf(&b, "%s@%s%v ", a.Skill, a.Digest, a.Docs)
	}
	b.WriteString("|")
	for _, d := range r.Deliveries {
		fmt.Fprintf(&b, " %d:%s", d.Call, d.Skill)
		if d.Body {
			b.WriteString("+body")
		}
		for _, doc := range d.Docs {
			b.WriteString("+")
			if doc.Old {
				b.WriteString("~")
			}
			b.WriteString(doc.Name)
		}
	}
	return b.String()
}

func TestReplay(t *testing.T) {
	all := func(string) bool { return true }
	for _, tt := range []struct {
		name     string
		receipts string
		spent    bool // in mode once, the model answers each receipt
		asked    func(string) bool
		want     string
	}{
		{"load", "[skill#1 +pdf@aa(x.md)]", false, all, "pdf@aa[x.md] | 1:pdf+body+x.md"},
		{"docs later", "[skill#1 +pdf@aa]\n[skill#2 +pdf@aa(x.md)]", false, all, "pdf@aa[x.md] | 1:pdf+body 2:pdf+x.md"},
		{"a doc with a new text", "[skill#1 +pdf@aa(x.md)]\n[skill#2 +pdf@aa(x.md)]", false, all, "pdf@aa[x.md] | 1:pdf+body 2:pdf+x.md"},
		{"a new text takes the docs with it", "[skill#1 +pdf@aa(x.md,y.md)]\n[skill#2 +pdf@bb(x.md)]", false, all, "pdf@bb[x.md] | 2:pdf+body+x.md"},
		{"selection", "[skill#1 +pdf@aa(x.md)]\n[skill#2 =pdf(x.md,y.md)]", false, all, "pdf@aa[x.md y.md] | 1:pdf+body+x.md 2:pdf+y.md"},
		{"selection drops", "[skill#1 +pdf@aa(x.md,y.md)]\n[skill#2 =pdf(y.md)]", false, all, "pdf@aa[y.md] | 1:pdf+body+y.md"},
		{"nothing selected", "[skill#1 +pdf@aa(x.md)]\n[skill#2 =pdf()]", false, all, "pdf@aa[] | 1:pdf+body"},
		{"selection of what is not loaded", "[skill#1 =pdf(x.md)]", false, all, "|"},
		{"unload", "[skill#1 +pdf@aa +docx@cc]\n[skill#2 -pdf]", false, all, "docx@cc[] | 1:docx+body"},
		{"a section, then its doc", "[skill#1 +pdf@aa(x.md#a)]\n[skill#2 +pdf@aa(x.md)]", false, all, "pdf@aa[x.md] | 1:pdf+body 2:pdf+x.md"},
		{"sections selected, then the doc", "[skill#1 +pdf@aa(x.md#a,y.md#a)]\n[skill#2 =pdf(y.md#a,x.md)]", false, all, "pdf@aa[y.md#a x.md] | 1:pdf+body+~x.md#a+y.md#a 2:pdf+x.md"},
		{"a newer section beside its doc", "[skill#1 +pdf@aa(x.md)]\n[skill#2 =pdf(x.md,x.md#a)]\n[skill#3 =pdf(x.md,x.md#a,y.md)]", false,
			func(doc string) bool { return doc == "y.md" }, "pdf@aa[x.md x.md#a y.md] | 1:pdf+body+x.md 2:pdf+x.md#a 3:pdf+y.md"},
		{"a file with # in its name is no section", "[skill#1 +pdf@aa(x.md#a.md)]\n[skill#2 +pdf@aa(x.md)]", false, all, "pdf@aa[x.md#a.md x.md] | 1:pdf+body+x.md#a.md 2:pdf+x.md"},
		{"shown once", "[skill#1 +pdf@aa(x.md)]\n[skill#2 +pdf@aa]", true, all, "pdf@aa[x.md] | 1:pdf+x.md 2:pdf+body"},
		{"asked again", "[skill#1 +pdf@aa(x.md)]\n[skill#2 =pdf(x.md,y.md)]", true, all, "pdf@aa[x.md y.md] | 1:pdf+body 2:pdf+x.md+y.md"},
		{"listed but not asked", "[skill#1 +pdf@aa(x.md)]\n[skill#2 =pdf(x.md,y.md)]", true, func(doc string) bool { return doc == "y.md" }, "pdf@aa[x.md y.md] | 1:pdf+body+x.md 2:pdf+y.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := &state.Record{TurnState: state.TurnState{Turn: 1}}
			for line := range strings.Lines(tt.receipts) {
				receipt, ok := state.ParseReceipt(strings.TrimSuffix(line, "\n"))
				if !ok {
					t.Fatalf("%s is no receipt", line)
				}
				for _, c := range receipt.Changes {
					rec.Replay(receipt.Call, c, tt.asked)
				}
				if tt.spent {
					for i := range rec.Deliveries {
						rec.Deliveries[i].Spent = true
					}
				}
			}
			if got := agent(rec); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestDeliverImported(t *testing.T) {
	rec := &state.Record{TurnState: state.TurnState{Turn: 1, Calls: 4}, LoadState: state.LoadState{Active: []state.Active{{Skill: "pdf", Docs: []string{"x.md"}}}}}
	rec.DeliverImported(&rec.Active[0])
	if got, want := agent(rec), "pdf@[x.md] | 5:pdf+body+x.md"; got != want || rec.Calls != 5 {
		t.Errorf("got %s after call %d, want %s", got, rec.Calls, want)
	}
}
