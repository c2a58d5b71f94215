package skilltools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// harness is one session with a catalog, a store and operations.
type harness struct {
	*Scope
	t       testing.TB
	files   fstest.MapFS
	records *state.Records
	set     *Set
	events  []core.Event
	hidden  map[int]bool
	unmet   map[string][]string // by skill
	skills  *catalog.Catalog
	number  int
	// fixed is the record in place of the store's, meddle changes what is saved, and
	// readRef reads the workspace; nil for none.
	fixed   func(context.Context) (*state.Record, error)
	meddle  func(context.Context, Change) Change
	readRef func(ref string) ([]byte, error)
}

// library are the skills that most tests use.
func library() map[string]string {
	return map[string]string{
		"pdf/SKILL.md":          md("pdf", "Reads PDF files.", "# PDF"),
		"pdf/forms.md":          "# Forms",
		"pdf/refs/tables.md":    "# Tables",
		"pdf/scripts/run.sh":    "echo run",
		"docx/SKILL.md":         md("docx", "Writes documents.", "# DOCX"),
		"docx/styles.md":        "# Styles",
		"csv/SKILL.md":          md("csv", "Reads tables.", "# CSV"),
		"secret/SKILL.md":       "---\nname: secret\ndescription: For the host only.\ndisable-model-invocation: true\n---\n# Secret",
		"secret/inside.md":      "# Inside",
		"pdf-tools/SKILL.md":    md("pdf-tools", "More of it.", "# Tools"),
		"spreadsheets/SKILL.md": md("spreadsheets", "Sheets.", "# Sheets"),
	}
}

func md(name, description, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n%s\n", name, description, body)
}

func newHarness(t testing.TB, files map[string]string) *harness {
	t.Helper()
	d := &harness{t: t, files: fstest.MapFS{}, records: state.NewRecords(session.NewMemory()), hidden: map[int]bool{}}
	for name, text := range files {
		d.files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	c, err := catalog.Open(t.Context(), []source.Root{source.FS("skills", d.files)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if d.set, err = NewSet(Default()...); err != nil {
		t.Fatal(err)
	}
	d.skills = c
	d.Scope = &Scope{State: d.asState(), View: d.asView(), Files: d.asFiles(), Events: d.asEvents(), Rules: Rules{Max: 8, Limits: tools.Limits{}.OrDefaults()}}
	return d
}

var harnessKey = core.SessionKey{Session: "s", Agent: "main"}

// harnessState, harnessView, harnessFiles and harnessEvents implement the parts of a scope.
type (
	harnessState  struct{ *harness }
	harnessView   struct{ *harness }
	harnessFiles  struct{ *harness }
	harnessEvents struct{ *harness }
)

func (d *harness) asState() State   { return harnessState{d} }
func (d *harness) asView() View     { return harnessView{d} }
func (d *harness) asFiles() Files   { return harnessFiles{d} }
func (d *harness) asEvents() Events { return harnessEvents{d} }

func (d harnessState) Key() core.SessionKey        { return harnessKey }
func (d harnessState) Number() int                 { return d.number }
func (d harnessState) Begin(context.Context) error { return nil }

func (d harnessState) Record(ctx context.Context) (*state.Record, error) {
	if d.fixed != nil {
		return d.fixed(ctx)
	}
	return d.records.Load(ctx, harnessKey)
}

func (d harnessState) Update(ctx context.Context, change Change) (answer string, err error) {
	if d.meddle != nil {
		change = d.meddle(ctx, change)
	}
	_, err = d.records.Update(ctx, harnessKey, func(rec *state.Record) (*state.Record, error) {
		next, text, err := change(rec)
		answer = text
		return next, err
	})
	return answer, err
}

func (d harnessView) Catalog() *catalog.Catalog       { return d.skills }
func (d harnessView) IsHidden(x *state.Delivery) bool { return d.hidden[x.Call] }
func (d harnessView) ReadTokens() (all, inTurn int)   { return 0, 0 }

func (d harnessView) AddRead(int, int) (all, inTurn int, fits bool) { return 0, 0, true }

func (d harnessView) Unmet(_ context.Context, skill core.Skill) []string {
	return d.unmet[skill.Name]
}

func (d harnessView) Restricted(*state.Record) string { return "" }

func (d harnessView) Entry(skill core.Skill) string {
	return "- " + oneLine(skill.Name) + ": " + oneLine(skill.Description) + "\n"
}

func (d harnessFiles) Pin(ctx context.Context, c catalog.Content) error {
	return d.records.Pin(ctx, harnessKey.Session, c.Digest, c.Text)
}

func (d harnessFiles) TextSize(context.Context, string) (int, error)       { return 0, nil }
func (d harnessFiles) Attached() []core.File                               { return nil }
func (d harnessFiles) Runs() bool                                          { return d.readRef != nil }
func (d harnessFiles) Workspace(context.Context) (string, error)           { return "/workspace", nil }
func (d harnessFiles) ReadRef(_ context.Context, s string) ([]byte, error) { return d.readRef(s) }
func (d harnessFiles) Sessions() *terminal.Table                           { return nil }
func (d harnessFiles) Run(context.Context, string) (string, error)         { return "", nil }

func (d harnessEvents) Emit(_ context.Context, e core.Event) {
	d.events = append(d.events, outcomes([]core.Event{e})...)
}

func (d harnessEvents) Found([]string) {}

// call answers a call; calls that change what is loaded are numbered from 1.
func (d *harness) call(name, raw string) string {
	d.t.Helper()
	answer, err := d.try(d.t.Context(), name, raw)
	if err != nil {
		d.t.Fatalf("%s %s: %v", name, raw, err)
	}
	return answer
}

func (d *harness) try(ctx context.Context, name, raw string) (string, error) {
	o := d.set.Operation(name)
	if o.Kind == tools.Changes {
		d.number++
	}
	return Answer(ctx, o, d.Scope, o.Decode(raw))
}

// expect fails if the answer of a call is not want. In want, the digests of
// receipts are left out.
func (d *harness) expect(name, raw, want string) {
	d.t.Helper()
	if got := blank(d.call(name, raw)); got != want {
		d.t.Errorf("%s %s answers\n%s\nwant\n%s", name, raw, got, want)
	}
}

// blank removes the digests from an answer.
func blank(answer string) string {
	r, ok := state.ParseReceipt(answer)
	if !ok {
		return answer
	}
	for i := range r.Changes {
		r.Changes[i].Digest = ""
	}
	return answer[:strings.LastIndexByte(answer, '\n')+1] + r.String()
}

func (d *harness) record() *state.Record {
	d.t.Helper()
	rec, err := d.Record(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return rec
}

// view lists what is in view: "pdf#1" for a body and the call that delivered it,
// "pdf/forms.md#2" for a doc, with "~" before what is superseded.
func (d *harness) view() string {
	d.t.Helper()
	var items []string
	for _, del := range d.record().Deliveries {
		if del.Body {
			items = append(items, old(del.Old)+fmt.Sprintf("%s#%d", del.Skill, del.Call))
		}
		for _, doc := range del.Docs {
			items = append(items, old(del.Old || doc.Old)+fmt.Sprintf("%s/%s#%d", del.Skill, doc.Name, del.Call))
			d.pinned(doc.Digest)
		}
		d.pinned(del.Digest)
	}
	return strings.Join(items, " ")
}

func old(is bool) string {
	if is {
		return "~"
	}
	return ""
}

// pinned returns a text that a delivery shows.
func (d *harness) pinned(digest string) string {
	d.t.Helper()
	text, err := d.records.Pinned(d.t.Context(), "s", digest)
	if err != nil {
		d.t.Fatalf("a delivered text is not pinned: %v", err)
	}
	return text
}

func (d *harness) expectView(want string) {
	d.t.Helper()
	if got := d.view(); got != want {
		d.t.Errorf("in view: %s, want %s", got, want)
	}
}

// loaded lists the loaded skills in load order.
func (d *harness) loaded() string {
	d.t.Helper()
	return loadedNames(d.record())
}

// write changes a file of the library, as an editor would.
func (d *harness) write(name, text string) { d.files[name] = &fstest.MapFile{Data: []byte(text)} }

// refresh makes the catalog notice new and removed skills.
func (d *harness) refresh() {
	d.t.Helper()
	if _, err := d.skills.Refresh(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

// outcomes removes reasons of activations, ends of loads, uses and unknown names from events:
// those are tested over a whole runtime.
func outcomes(events []core.Event) []core.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e core.Event) bool {
		return e.Kind == core.SkillActivated || e.Kind == core.SkillCompleted || e.Kind == core.SkillUsed || e.Kind == core.SkillNotFound
	})
}
