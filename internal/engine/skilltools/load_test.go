package skilltools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

func TestLoad(t *testing.T) {
	for _, tt := range []struct {
		name, args, answer, view string
	}{
		{"one", `{"skill":"pdf"}`, "loaded: pdf\n[skill#1 +pdf]", "pdf#1"},
		{"bare name", `pdf`, "loaded: pdf\n[skill#1 +pdf]", "pdf#1"},
		{"several", `{"skills":["docx","pdf"]}`, "loaded: docx\nloaded: pdf\n[skill#1 +docx +pdf]", "docx#1 pdf#1"},
		{"both fields", `{"skill":"pdf","skills":["docx","pdf"]}`, "loaded: pdf\nloaded: docx\n[skill#1 +pdf +docx]", "pdf#1 docx#1"},
		{"two spellings of one name", `{"skills":["pdf"," pdf ","pdf"]}`, "loaded: pdf\n[skill#1 +pdf]", "pdf#1"},
		{"docs", `{"skill":"pdf","docs":["refs/tables.md","./forms.md"]}`,
			"loaded: pdf\n[skill#1 +pdf(refs/tables.md,forms.md)]", "pdf#1 pdf/refs/tables.md#1 pdf/forms.md#1"},
		{"doc named twice", `{"skill":"pdf","docs":["forms.md","./forms.md","refs/../forms.md"]}`,
			"loaded: pdf\n[skill#1 +pdf(forms.md)]", "pdf#1 pdf/forms.md#1"},
		{"all docs", `{"skill":"pdf","include_all_docs":true}`,
			"loaded: pdf\n[skill#1 +pdf*(forms.md,refs/tables.md)]", "pdf#1 pdf/forms.md#1 pdf/refs/tables.md#1"},
		{"all docs of a skill without any", `{"skill":"csv","include_all_docs":true}`, "loaded: csv\n[skill#1 +csv*]", "csv#1"},
		{"docs of several skills", `{"skills":["pdf","docx"],"docs":["forms.md","styles.md"]}`,
			"loaded: pdf\nloaded: docx\n[skill#1 +pdf(forms.md) +docx(styles.md)]", "pdf#1 pdf/forms.md#1 docx#1 docx/styles.md#1"},
		{"unknown doc", `{"skill":"pdf","docs":["form.md","forms.md"]}`,
			"loaded: pdf\nerror: skill \"pdf\" has no doc \"form.md\"; its docs are [\"forms.md\",\"refs/tables.md\"]; did you mean \"forms.md\"?\n[skill#1 +pdf(forms.md)]", "pdf#1 pdf/forms.md#1"},
		{"a file that is no doc", `{"skill":"pdf","docs":["SKILL.md","../docx/styles.md"]}`,
			"loaded: pdf\nerror: skill \"pdf\" has no doc \"SKILL.md\"; its docs are [\"forms.md\",\"refs/tables.md\"]\n" +
				"error: skill \"pdf\" has no doc \"../docx/styles.md\"; its docs are [\"forms.md\",\"refs/tables.md\"]\n[skill#1 +pdf]", "pdf#1"},
		{"doc of a skill without docs", `{"skill":"csv","docs":["x.md"]}`,
			"loaded: csv\nerror: skill \"csv\" has no doc \"x.md\"; it has none\n[skill#1 +csv]", "csv#1"},
		{"unknown field", `{"skill":"pdf","reason":"why not"}`, "loaded: pdf\nignored unknown field \"reason\"\n[skill#1 +pdf]", "pdf#1"},
		{"names", `{"names":["docx","pdf"]}`, "loaded: docx\nloaded: pdf\n[skill#1 +docx +pdf]", "docx#1 pdf#1"},
		{"names as one text", `{"names":"pdf","mode":"REPLACE"}`, "loaded: pdf\n[skill#1 +pdf]", "pdf#1"},
		{"name", `{"name":"pdf"}`, "loaded: pdf\n[skill#1 +pdf]", "pdf#1"},
		{"one is unknown", `{"skills":["pdf","nope"]}`,
			"loaded: pdf\nerror: unknown skill \"nope\": use a name from the list of available skills\n[skill#1 +pdf]", "pdf#1"},
		{"near name", `{"skill":"dcox"}`, "error: unknown skill \"dcox\": did you mean \"docx\"?", ""},
		{"other case", `{"skill":"CSV"}`, "error: unknown skill \"CSV\": did you mean \"csv\"?", ""},
		{"hidden", `{"skill":"secret"}`, "error: unknown skill \"secret\": use a name from the list of available skills", ""},
		{"path", `{"skill":"../pdf"}`, "error: unknown skill \"../pdf\": did you mean \"pdf\" or \"pdf-tools\"?", ""},
		{"nothing", `{}`, "error: name a skill, such as {\"skill\":\"…\"}", ""},
		{"blank", `{"skill":" ","skills":["",""]}`, "error: name a skill, such as {\"skill\":\"…\"}", ""},
		{"wrong mode", `{"skill":"pdf","mode":"swap"}`, "error: cannot read the arguments: field \"mode\": want one of add, replace, not \"swap\"", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newHarness(t, library())
			d.expect("skill_load", tt.args, tt.answer)
			d.expectView(tt.view)
			if tt.view == "" && d.record().Version != 0 {
				t.Error("a failed load has changed the record")
			}
		})
	}
}

// The answer of a load is plain text that ends with its receipt, by which the
// view finds the delivery.
func TestLoadReceipt(t *testing.T) {
	d := newHarness(t, library())
	answer := d.call("skill_load", `{"skill":"pdf","docs":"forms.md"}`)
	r, ok := state.ParseReceipt(answer)
	if !ok || r.Call != 1 || len(r.Changes) != 1 {
		t.Fatalf("%q ends with no receipt of call 1: %+v", answer, r)
	}
	rec := d.record()
	if body := d.pinned(rec.Deliveries[0].Digest); body != "# PDF" || !strings.HasPrefix(rec.Deliveries[0].Digest, r.Changes[0].Digest) {
		t.Errorf("body %q of digest %s, receipt %s", body, rec.Deliveries[0].Digest, r)
	}
	if doc := d.pinned(rec.Deliveries[0].Docs[0].Digest); doc != "# Forms" {
		t.Errorf("doc %q", doc)
	}
	if a := rec.Find("pdf"); !slices.Equal(a.Docs, []string{"forms.md"}) || a.All || a.Digest != rec.Deliveries[0].Digest {
		t.Errorf("active %+v", a)
	}
	want := core.Event{Kind: core.SkillLoaded, Skill: "pdf", Digest: rec.Deliveries[0].Digest, Docs: []string{"forms.md"}}
	if len(d.events) != 1 || d.events[0].Kind != want.Kind || d.events[0].Skill != "pdf" || d.events[0].Digest != want.Digest || !slices.Equal(d.events[0].Docs, want.Docs) {
		t.Errorf("events %+v", d.events)
	}
}

func TestLoadTwice(t *testing.T) {
	d := newHarness(t, library())
	d.call("skill_load", `{"skill":"pdf","docs":["forms.md"]}`)
	d.call("skill_load", `docx`)
	d.expect("skill_load", `pdf`, "already loaded: pdf; its text is above")
	d.expect("skill_load", `{"skill":"pdf","docs":["forms.md"]}`, "already loaded: pdf; its text is above")
	d.expect("skill_load", `{"skill":"pdf","include_all_docs":true}`,
		"already loaded: pdf; its text is above\n[skill#5 +pdf*(refs/tables.md)]")
	d.expectView("pdf#1 pdf/forms.md#1 docx#2 pdf/refs/tables.md#5")
	if got := d.loaded(); got != "pdf, docx" {
		t.Errorf("load order %s: loading again must not reorder", got)
	}
	if rec := d.record(); rec.Find("pdf").Used < rec.Find("docx").Used {
		t.Error("loading again does not count as use")
	}
}

func TestLoadReplace(t *testing.T) {
	d := newHarness(t, library())
	d.call("skill_load", `{"skills":["pdf","docx","csv"]}`)
	t.Run("unknown skill changes nothing", func(t *testing.T) {
		d.expect("skill_load", `{"skill":"nope","mode":"replace"}`,
			"error: unknown skill \"nope\": use a name from the list of available skills")
		if d.loaded() != "pdf, docx, csv" {
			t.Errorf("loaded %s", d.loaded())
		}
	})
	t.Run("one stays", func(t *testing.T) {
		d.events = nil
		d.expect("skill_load", `{"skills":["spreadsheets","docx"],"mode":"replace"}`,
			"unloaded: pdf\nunloaded: csv\nloaded: spreadsheets\nalready loaded: docx; its text is above\n[skill#3 -pdf -csv +spreadsheets]")
		d.expectView("docx#1 spreadsheets#3")
		if got := d.loaded(); got != "docx, spreadsheets" {
			t.Errorf("loaded %s", got)
		}
		var kinds []string
		for _, e := range d.events {
			kinds = append(kinds, string(e.Kind)+" "+e.Skill)
		}
		if got := strings.Join(kinds, ", "); got != "skill.unloaded pdf, skill.unloaded csv, skill.loaded spreadsheets, skill.loaded docx" {
			t.Errorf("events %s", got)
		}
	})
}

func TestLoadChangedText(t *testing.T) {
	d := newHarness(t, library())
	d.call("skill_load", `{"skill":"pdf","docs":["forms.md"]}`)
	d.call("skill_select_docs", `{"skill":"pdf","docs":["refs/tables.md"],"mode":"add"}`)
	first := d.record().Deliveries[0].Digest
	d.write("pdf/SKILL.md", md("pdf", "Reads PDF files.", "# PDF, second edition"))
	d.write("pdf/refs/tables.md", "# Tables, second edition")

	t.Run("what was delivered stays as it was", func(t *testing.T) {
		d.expect("skill_load", `docx`, "loaded: docx\n[skill#3 +docx]")
		d.expectView("pdf#1 pdf/forms.md#1 pdf/refs/tables.md#2 docx#3")
		if got := d.pinned(first); got != "# PDF" {
			t.Errorf("pinned %q", got)
		}
	})
	t.Run("the new text supersedes it with its docs", func(t *testing.T) {
		d.expect("skill_load", `pdf`, "loaded: pdf (its text has changed: this one supersedes the earlier one)\n[skill#4 +pdf(forms.md,refs/tables.md)]")
		d.expectView("~pdf#1 ~pdf/forms.md#1 ~pdf/refs/tables.md#2 docx#3 pdf#4 pdf/forms.md#4 pdf/refs/tables.md#4")
		last := d.record().Deliveries[3]
		if !last.Supersedes || d.pinned(last.Digest) != "# PDF, second edition" || d.pinned(last.Docs[1].Digest) != "# Tables, second edition" {
			t.Errorf("delivered %+v", last)
		}
	})
	t.Run("the old one goes at the next break", func(t *testing.T) {
		d.call("skill_unload", `docx`)
		d.expectView("pdf#4 pdf/forms.md#4 pdf/refs/tables.md#4")
	})
	t.Run("a changed doc", func(t *testing.T) {
		d.write("pdf/forms.md", "# Forms, third edition")
		d.expect("skill_load", `{"skill":"pdf","docs":["forms.md"]}`, "already loaded: pdf; its text is above\n[skill#6 +pdf(forms.md)]")
		d.expectView("pdf#4 ~pdf/forms.md#4 pdf/refs/tables.md#4 pdf/forms.md#6")
		if got := d.record().Deliveries[1]; !got.Supersedes || got.Body {
			t.Errorf("delivered %+v", got)
		}
	})
	t.Run("a selected doc that is gone", func(t *testing.T) {
		d.write("pdf/SKILL.md", md("pdf", "Reads PDF files.", "# PDF, fourth edition"))
		delete(d.files, "pdf/refs/tables.md")
		d.expect("skill_load", `pdf`, "loaded: pdf (its text has changed: this one supersedes the earlier one)\n[skill#7 +pdf(forms.md)]")
		if got := d.record().Find("pdf").Docs; !slices.Equal(got, []string{"forms.md"}) {
			t.Errorf("selected %q: refs/tables.md is gone", got)
		}
	})
}

// A load that loses the race for the record is repeated on the new record, and
// its answer says what holds then.
func TestLoadAfterConflict(t *testing.T) {
	d := newHarness(t, library())
	d.Max = 1
	raced := false
	d.meddle = func(ctx context.Context, change Change) Change {
		return func(rec *state.Record) (*state.Record, string, error) {
			next, answer, err := change(rec)
			if !raced {
				raced = true
				other := rec.Clone()
				other.Activate("docx", "d")
				if _, err := d.records.Save(ctx, other); err != nil {
					t.Fatal(err)
				}
			}
			return next, answer, err
		}
	}
	d.expect("skill_load", `pdf`, "loaded: pdf\nunloaded to make room (at most 1): docx\n[skill#1 +pdf -docx]")
	if len(d.events) != 2 {
		t.Errorf("events %+v: want one load and one eviction", d.events)
	}
}

func TestLoadWhatCannotBeRead(t *testing.T) {
	t.Run("gone from the disk", func(t *testing.T) {
		d := newHarness(t, library())
		delete(d.files, "pdf/SKILL.md")
		answer := d.call("skill_load", `{"skills":["pdf","docx"]}`)
		if want := "loaded: docx\nerror: skill \"pdf\" cannot be read: "; !strings.HasPrefix(answer, want) {
			t.Errorf("answer %q, want %q …", answer, want)
		}
		d.expectView("docx#1")
	})
	t.Run("gone from the catalog", func(t *testing.T) {
		d := newHarness(t, library())
		delete(d.files, "docx/SKILL.md")
		d.refresh()
		d.expect("skill_load", `docx`, "error: unknown skill \"docx\": use a name from the list of available skills")
	})
	t.Run("too many bytes of docs", func(t *testing.T) {
		files := library()
		files["pdf/big1.md"] = strings.Repeat("x", maxDocBytes/2)
		files["pdf/big2.md"] = strings.Repeat("y", maxDocBytes/2+1)
		d := newHarness(t, files)
		d.expect("skill_load", `{"skill":"pdf","include_all_docs":true}`,
			"loaded: pdf\nerror: the docs of \"pdf\" are more than 1048576 bytes together: name those that you need\n[skill#1 +pdf*]")
		d.expectView("pdf#1")
		d.expect("skill_select_docs", `{"skill":"pdf","include_all_docs":true}`,
			"error: the docs of \"pdf\" are more than 1048576 bytes together: name those that you need")
	})
	t.Run("a doc that is too large", func(t *testing.T) {
		files := library()
		files["pdf/big.md"] = strings.Repeat("x", 2<<20)
		d := newHarness(t, files)
		const why = "error: doc \"big.md\" of \"pdf\" cannot be read: file too large\n"
		d.expect("skill_load", `{"skill":"pdf","include_all_docs":true}`,
			"loaded: pdf\n"+why+"[skill#1 +pdf*(forms.md,refs/tables.md)]")
		d.expect("skill_load", `{"skill":"pdf","docs":["big.md","none.md"]}`,
			"already loaded: pdf; its text is above\nerror: skill \"pdf\" has no doc \"none.md\"; its docs are [\"big.md\",\"forms.md\",\"refs/tables.md\"]\n"+strings.TrimSuffix(why, "\n"))
		d.expect("skill_select_docs", `{"skill":"pdf","docs":["forms.md","big.md"]}`, "docs of pdf: forms.md\n"+why+"[skill#3 =pdf(forms.md)]")
		d.expect("skill_select_docs", `{"skill":"pdf","docs":["big.md"]}`, strings.TrimSuffix(why, "\n"))
		d.expectView("pdf#1 pdf/forms.md#1")
	})
	t.Run("many docs that are too large", func(t *testing.T) {
		files := library()
		for i := range 8 {
			files[fmt.Sprintf("docx/big%d.md", i)] = strings.Repeat("x", 2<<20)
		}
		answer := newHarness(t, files).call("skill_load", `{"skill":"docx","include_all_docs":true}`)
		if strings.Count(answer, "cannot be read: ") != 5 || !strings.Contains(answer, "\nerror: 3 more docs cannot be read\n[skill#1 +docx") {
			t.Errorf("answer %q", answer)
		}
	})
	t.Run("the run is over", func(t *testing.T) {
		d := newHarness(t, library())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if answer, err := d.try(ctx, "skill_load", `pdf`); !errors.Is(err, context.Canceled) || answer != "" {
			t.Errorf("got %q, %v", answer, err)
		}
	})
	t.Run("the store fails", func(t *testing.T) {
		d, broken := newHarness(t, library()), errors.New("disk full")
		d.meddle = func(context.Context, Change) Change {
			return func(*state.Record) (*state.Record, string, error) { return nil, "", broken }
		}
		if answer, err := d.try(t.Context(), "skill_load", `pdf`); !errors.Is(err, broken) || answer != "" {
			t.Errorf("got %q, %v", answer, err)
		}
		if len(d.events) != 0 {
			t.Errorf("events of a load that was not saved: %+v", d.events)
		}
	})
}
