package state

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// show returns the loaded skills and the deliveries, one a line: body and docs of a delivery,
// with "~" before superseded text.
func show(r *Record) string {
	var b strings.Builder
	for _, a := range r.Active {
		fmt.Fprintf(&b, "%s@%s %v %v used %d\n", a.Skill, a.Digest, a.Docs, a.All, a.Used)
	}
	for _, d := range r.Deliveries {
		fmt.Fprintf(&b, "#%d ", d.Call)
		if d.Old {
			b.WriteByte('~')
		}
		b.WriteString(d.Skill)
		if d.Body {
			b.WriteString(" body")
		}
		for _, doc := range d.Docs {
			if doc.Old {
				fmt.Fprintf(&b, " ~%s@%s", doc.Name, doc.Digest)
			} else {
				fmt.Fprintf(&b, " %s@%s", doc.Name, doc.Digest)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func expect(t *testing.T, r *Record, want string) {
	t.Helper()
	want = strings.TrimLeft(strings.ReplaceAll(want, "\t", ""), "\n")
	if got := show(r); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// twoLoaded has pdf of calls 1 and 3 and docx of call 2.
func twoLoaded() *Record {
	r := &Record{}
	r.Activate("pdf", "p1").Docs = []string{"a.md", "b.md"}
	r.Deliver(Delivery{Call: 1, Skill: "pdf", Digest: "p1", Body: true, Docs: []Doc{{Name: "a.md", Digest: "a1"}}})
	r.Activate("docx", "d1")
	r.Deliver(Delivery{Call: 2, Skill: "docx", Digest: "d1", Body: true})
	r.Deliver(Delivery{Call: 3, Skill: "pdf", Digest: "p1", Docs: []Doc{{Name: "b.md", Digest: "b1"}}})
	return r
}

func TestActivate(t *testing.T) {
	r := twoLoaded()
	t.Run("again keeps the load order and touches", func(t *testing.T) {
		if a := r.Activate("pdf", "p2"); a.Used != 3 || a.Digest != "p2" {
			t.Errorf("got %+v", a)
		}
		if r.Active[0].Skill != "pdf" || len(r.Active) != 2 || r.Uses != 3 {
			t.Errorf("active %+v", r.Active)
		}
	})
	t.Run("touch", func(t *testing.T) {
		r.Touch("docx")
		r.Touch("nobody")
		if r.Find("docx").Used != 4 || r.Uses != 4 {
			t.Errorf("active %+v, uses %d", r.Active, r.Uses)
		}
	})
}

func TestDeliverKeepsOrderOfCalls(t *testing.T) {
	r := &Record{}
	for _, d := range []Delivery{{Call: 2, Skill: "a"}, {Call: 5, Skill: "b"}, {Call: 2, Skill: "c"}, {Call: 1, Skill: "d"}, {Call: 3, Skill: "e"}} {
		r.Deliver(d)
	}
	expect(t, r, "#1 d\n#2 a\n#2 c\n#3 e\n#5 b\n")
}

func TestUnload(t *testing.T) {
	t.Run("takes everything that was delivered", func(t *testing.T) {
		r := twoLoaded()
		if !r.Unload("pdf") {
			t.Error("pdf was loaded")
		}
		expect(t, r, `
			docx@d1 [] false used 2
			#2 docx body
		`)
	})
	t.Run("not loaded", func(t *testing.T) {
		r := twoLoaded()
		if r.Unload("csv") || !reflect.DeepEqual(r, twoLoaded()) {
			t.Error("the record has changed")
		}
	})
	t.Run("is a break for what is superseded", func(t *testing.T) {
		r := twoLoaded()
		r.supersedeDoc("pdf", "b.md")
		r.Unload("docx")
		expect(t, r, `
			pdf@p1 [a.md b.md] false used 1
			#1 pdf body a.md@a1
		`)
	})
	t.Run("leaves no trace", func(t *testing.T) {
		r := twoLoaded()
		r.Unload("pdf")
		r.Unload("docx")
		if len(r.Active)+len(r.Deliveries) != 0 {
			t.Errorf("left: %+v", r)
		}
	})
}

func TestSupersede(t *testing.T) {
	r := twoLoaded()
	r.supersede("pdf")
	r.Activate("pdf", "p2")
	r.Deliver(Delivery{Call: 4, Skill: "pdf", Digest: "p2", Body: true, Supersedes: true})
	t.Run("the old text stays until the next break", func(t *testing.T) {
		expect(t, r, `
			pdf@p2 [a.md b.md] false used 3
			docx@d1 [] false used 2
			#1 ~pdf body a.md@a1
			#2 docx body
			#3 ~pdf b.md@b1
			#4 pdf body
		`)
	})
	t.Run("only the new one counts", func(t *testing.T) {
		if got, ok := r.Body("pdf"); got != "p2" || !ok {
			t.Errorf("Body = %q, %v", got, ok)
		}
		if got, ok := r.docDigest("pdf", "a.md"); ok {
			t.Errorf("DocIn = %q", got)
		}
		if _, ok := r.Body("csv"); ok {
			t.Error("csv has a body")
		}
	})
	t.Run("break", func(t *testing.T) {
		r.Break()
		expect(t, r, `
			pdf@p2 [a.md b.md] false used 3
			docx@d1 [] false used 2
			#2 docx body
			#4 pdf body
		`)
	})
}

func TestSupersedeDoc(t *testing.T) {
	r := twoLoaded()
	r.supersedeDoc("docx", "a.md")
	r.supersedeDoc("pdf", "none.md")
	expect(t, r, show(twoLoaded()))
	r.supersedeDoc("pdf", "a.md")
	r.Deliver(Delivery{Call: 4, Skill: "pdf", Digest: "p1", Docs: []Doc{{Name: "a.md", Digest: "a2"}}, Supersedes: true})
	if got, ok := r.docDigest("pdf", "a.md"); got != "a2" || !ok {
		t.Errorf("DocIn = %q, %v", got, ok)
	}
	if got, ok := r.docDigest("docx", "a.md"); ok {
		t.Errorf("DocIn = %q of another skill", got)
	}
	r.Break()
	expect(t, r, `
		pdf@p1 [a.md b.md] false used 1
		docx@d1 [] false used 2
		#1 pdf body
		#2 docx body
		#3 pdf b.md@b1
		#4 pdf a.md@a2
	`)
}

func TestDeselect(t *testing.T) {
	t.Run("part", func(t *testing.T) {
		r := twoLoaded()
		r.deselect("pdf", []string{"a.md", "c.md"}, false)
		expect(t, r, `
			pdf@p1 [a.md c.md] false used 1
			docx@d1 [] false used 2
			#1 pdf body a.md@a1
			#2 docx body
		`)
	})
	t.Run("all", func(t *testing.T) {
		r := twoLoaded()
		r.deselect("pdf", nil, false)
		expect(t, r, `
			pdf@p1 [] false used 1
			docx@d1 [] false used 2
			#1 pdf body
			#2 docx body
		`)
	})
	t.Run("nothing that is in view", func(t *testing.T) {
		r := twoLoaded()
		r.supersedeDoc("pdf", "a.md")
		r.deselect("pdf", []string{"b.md", "a.md", "c.md"}, true)
		expect(t, r, `
			pdf@p1 [b.md a.md c.md] true used 1
			docx@d1 [] false used 2
			#1 pdf body ~a.md@a1
			#2 docx body
			#3 pdf b.md@b1
		`)
	})
	t.Run("only what is superseded", func(t *testing.T) {
		r := twoLoaded()
		r.supersede("pdf")
		r.Deliver(Delivery{Call: 4, Skill: "pdf", Digest: "p2", Body: true})
		before := slices.Clone(r.Deliveries)
		if r.deselect("pdf", []string{"c.md"}, false); !reflect.DeepEqual(r.Deliveries, before) {
			t.Errorf("content went:\n%s", show(r))
		}
	})
}

// A change of a clone does not change the shared record.
func TestCloneIsIndependent(t *testing.T) {
	r := twoLoaded()
	r.Deliveries[0].Anchor = &Mark{Hash: "u"}
	before := show(r)
	c := r.Clone()
	c.Deliveries[0].Anchor.Hash = "other"
	c.supersedeDoc("pdf", "a.md")
	c.supersede("docx")
	c.deselect("pdf", []string{"b.md"}, true)
	c.Unload("pdf")
	c.Deliver(Delivery{Call: 1, Skill: "new"})
	c.Activate("docx", "d9").Docs = []string{"x"}
	if got := show(r); got != before || r.Deliveries[0].Anchor.Hash != "u" || r.Uses != 2 {
		t.Errorf("got\n%swant\n%s", got, before)
	}
}

func TestDropBody(t *testing.T) {
	r := twoLoaded()
	r.dropBody("pdf")
	r.dropBody("nobody")
	expect(t, r, `
		pdf@p1 [a.md b.md] false used 1
		docx@d1 [] false used 2
		#1 pdf a.md@a1
		#2 docx body
		#3 pdf b.md@b1
	`)
	r.dropBody("docx")
	if _, ok := r.Body("docx"); ok || len(r.Deliveries) != 2 || r.Find("docx") == nil {
		t.Errorf("left:\n%s", show(r))
	}
}

func TestDropDoc(t *testing.T) {
	r := twoLoaded()
	r.dropDoc("pdf", "b.md")
	r.dropDoc("docx", "a.md")
	expect(t, r, `
		pdf@p1 [a.md b.md] false used 1
		docx@d1 [] false used 2
		#1 pdf body a.md@a1
		#2 docx body
	`)
	r.dropDoc("pdf", "a.md")
	if _, ok := r.docDigest("pdf", "a.md"); ok {
		t.Errorf("left:\n%s", show(r))
	}
}
