package skilltools_test

import (
	"fmt"

	"context"
	"strings"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

func ExampleChoose() {
	set, err := skilltools.Choose(skilltools.Default(), []string{"skill_load", "skill_read"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range set.Tools() {
		fmt.Println(t.Name)
	}
	_, err = skilltools.Choose(skilltools.Default(), []string{"skill_read"})
	fmt.Println(err)
	// Output:
	// skill_load
	// skill_read
	// tools cannot work together: skill_read is of no use without skill_load
}

func ExampleNewSet() {
	set, err := skilltools.NewSet(skilltools.ListDocs())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", set.Tools()[0].Schema)
	// Output: {"properties":{"skill":{"type":"string"}},"required":["skill"],"type":"object"}
}

// newScope returns the scope of a conversation with one skill and two docs. A program without a
// runtime makes a Scope like this.
func newScope() (*skilltools.Scope, error) {
	skills := fstest.MapFS{
		"pdf/SKILL.md":  {Data: []byte("---\nname: pdf\ndescription: Fill in PDF forms.\n---\n# PDF\n")},
		"pdf/forms.md":  {Data: []byte("# Forms\n")},
		"pdf/tables.md": {Data: []byte("# Tables\n")},
	}
	c, err := catalog.Open(context.Background(), []source.Root{source.FS("skills", skills)})
	if err != nil {
		return nil, err
	}
	here := &conversation{skills: c, records: state.NewRecords(session.NewMemory()), key: core.SessionKey{Session: "chat-1", Agent: "main"}}
	return &skilltools.Scope{State: here, View: here, Files: here, Events: here, Rules: skilltools.Rules{Limits: tools.Limits{}.OrDefaults()}}, nil
}

// conversation implements the scope of an agent's calls.
type conversation struct {
	skilltools.Files // this example has no files except pinned texts
	skills           *catalog.Catalog
	records          *state.Records
	key              core.SessionKey
	number           int
}

func (c *conversation) Key() core.SessionKey        { return c.key }
func (c *conversation) Number() int                 { return c.number }
func (c *conversation) Begin(context.Context) error { return nil }

func (c *conversation) Record(ctx context.Context) (*state.Record, error) {
	return c.records.Load(ctx, c.key)
}

func (c *conversation) Update(ctx context.Context, change skilltools.Change) (answer string, err error) {
	_, err = c.records.Update(ctx, c.key, func(rec *state.Record) (next *state.Record, err error) {
		next, answer, err = change(rec)
		return next, err
	})
	return answer, err
}

func (c *conversation) Catalog() *catalog.Catalog     { return c.skills }
func (c *conversation) IsHidden(*state.Delivery) bool { return false }
func (c *conversation) Entry(skill core.Skill) string {
	return "- " + skill.Name + ": " + skill.Description + "\n"
}
func (c *conversation) ReadTokens() (all, inTurn int) { return 0, 0 }

func (c *conversation) AddRead(int, int) (all, inTurn int, fits bool) { return 0, 0, true }

func (c *conversation) Unmet(context.Context, core.Skill) []string { return nil }
func (c *conversation) Restricted(*state.Record) string            { return "" }
func (c *conversation) Runs() bool                                 { return false }

func (c *conversation) Pin(ctx context.Context, text catalog.Content) error {
	return c.records.Pin(ctx, c.key.Session, text.Digest, text.Text)
}

func (c *conversation) Emit(context.Context, core.Event) {}
func (c *conversation) Found([]string)                   {}

// call prints the answer of an operation, without the receipt that the view needs.
func call(s *skilltools.Scope, o tools.Operation, arguments string) {
	if o.Kind == tools.Changes {
		s.State.(*conversation).number++
	}
	answer, err := skilltools.Answer(context.Background(), &o, s, o.Decode(arguments))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _, _ := strings.Cut(answer, "\n[skill#")
	fmt.Println(text)
}

func ExampleLoad() {
	s, err := newScope()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog().Close()
	call(s, skilltools.Load(), `{"skill":"pdf","docs":["forms.md"]}`)
	call(s, skilltools.Load(), `{"skill":"pfd"}`)
	// Output:
	// loaded: pdf
	// error: unknown skill "pfd": did you mean "pdf"?
}

func ExampleSelectDocs() {
	s, err := newScope()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog().Close()
	call(s, skilltools.Load(), `{"skill":"pdf"}`)
	call(s, skilltools.SelectDocs(), `{"skill":"pdf","docs":["tables.md"]}`)
	// Output:
	// loaded: pdf
	// docs of pdf: tables.md
}

func ExampleListDocs() {
	s, err := newScope()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog().Close()
	call(s, skilltools.ListDocs(), `{"skill":"pdf"}`)
	// Output:
	// ["forms.md","tables.md"]
}

func ExampleRead() {
	s, err := newScope()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog().Close()
	call(s, skilltools.Load(), `{"skill":"pdf"}`)
	call(s, skilltools.Read(), `{"skill":"pdf","path":"forms.md"}`)
	// Output:
	// loaded: pdf
	// forms.md, lines 1 to 1 of 1
	// # Forms
}

func ExampleUnload() {
	s, err := newScope()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog().Close()
	call(s, skilltools.Load(), `{"skill":"pdf"}`)
	call(s, skilltools.Unload(), `{"skill":"pdf"}`)
	// Output:
	// loaded: pdf
	// unloaded: pdf
	// still loaded: none
}

func ExampleSearch() {
	s, err := newScope()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog().Close()
	call(s, skilltools.Search(), `{"query":"forms"}`)
	// Output:
	// 1 of 1 skills match:
	// - pdf: Fill in PDF forms.
	// Load one with skill_load; if none fits, search again in other words.
}

// A host loads skills itself before the model is called.
func ExampleDeclare() {
	s, err := newScope()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog().Close()
	ctx := context.Background()
	declared, err := skilltools.Declare(ctx, s, []tools.Load{{Skill: "pdf", Docs: []string{"forms.md"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rec, err := declared.Apply(ctx, &state.Record{}, state.Mark{})
	fmt.Println(rec.Active[0].Skill, rec.Active[0].Docs, err)
	_, err = skilltools.Declare(ctx, s, []tools.Load{{Skill: "pfd"}})
	fmt.Println(err)
	// Output:
	// pdf [forms.md] <nil>
	// declared loads cannot be made: unknown skill "pfd"
}
