package tools_test

import (
	"fmt"

	"context"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
	"strings"
	"testing/fstest"
)

func ExampleChoose() {
	set, err := tools.Choose(tools.Default(), []string{"skill_load", "skill_read"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range set.Tools() {
		fmt.Println(t.Name)
	}
	_, err = tools.Choose(tools.Default(), []string{"skill_read"})
	fmt.Println(err)
	// Output:
	// skill_load
	// skill_read
	// tools cannot work together: skill_read is of no use without skill_load
}

func ExampleNewSet() {
	set, err := tools.NewSet(tools.ListDocs())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", set.Tools()[0].Schema)
	// Output: {"properties":{"skill":{"type":"string"}},"required":["skill"],"type":"object"}
}

func ExampleProfile_Names() {
	fmt.Println(tools.KnowledgeOnly.Names())
	// Output: [skill_load skill_select_docs skill_list_docs] <nil>
}

// desk is a conversation over one skill with two docs. Who has no runtime makes a Scope
// like it.
func desk() (*tools.Scope, error) {
	skills := fstest.MapFS{
		"pdf/SKILL.md":  {Data: []byte("---\nname: pdf\ndescription: Fill in PDF forms.\n---\n# PDF\n")},
		"pdf/forms.md":  {Data: []byte("# Forms\n")},
		"pdf/tables.md": {Data: []byte("# Tables\n")},
	}
	c, err := catalog.Open(context.Background(), []catalog.Root{catalog.FS("skills", skills)})
	if err != nil {
		return nil, err
	}
	records, key := state.NewRecords(session.NewMemory()), core.SessionKey{Session: "chat-1", Agent: "main"}
	return &tools.Scope{
		Key: key, Catalog: c,
		Hidden: func(*state.Delivery) bool { return false },
		Record: func(ctx context.Context) (*state.Record, error) { return records.Load(ctx, key) },
		Update: func(ctx context.Context, change tools.Change) (answer string, err error) {
			_, err = records.Update(ctx, key, func(rec *state.Record) (next *state.Record, err error) {
				next, answer, err = change(rec)
				return next, err
			})
			return answer, err
		},
		Pin: func(ctx context.Context, c catalog.Content) error {
			return records.Pin(ctx, key.Session, c.Digest, c.Text)
		},
		Emit: func(context.Context, core.Event) {},
	}, nil
}

// call prints the answer of an operation, without the receipt that the view needs.
func call(s *tools.Scope, o tools.Operation, arguments string) {
	if o.Changes {
		s.Number++
	}
	answer, err := o.Answer(context.Background(), s, o.Decode(arguments))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _, _ := strings.Cut(answer, "\n[skill#")
	fmt.Println(text)
}

func ExampleLoad() {
	s, err := desk()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog.Close()
	call(s, tools.Load(), `{"skill":"pdf","docs":["forms.md"]}`)
	call(s, tools.Load(), `{"skill":"pfd"}`)
	// Output:
	// loaded: pdf
	// error: unknown skill "pfd": did you mean "pdf"?
}

func ExampleSelectDocs() {
	s, err := desk()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog.Close()
	call(s, tools.Load(), `{"skill":"pdf"}`)
	call(s, tools.SelectDocs(), `{"skill":"pdf","docs":["tables.md"]}`)
	// Output:
	// loaded: pdf
	// docs of pdf: tables.md
}

func ExampleListDocs() {
	s, err := desk()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog.Close()
	call(s, tools.ListDocs(), `{"skill":"pdf"}`)
	// Output:
	// ["forms.md","tables.md"]
}

func ExampleRead() {
	s, err := desk()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog.Close()
	call(s, tools.Load(), `{"skill":"pdf"}`)
	call(s, tools.Read(), `{"skill":"pdf","path":"forms.md"}`)
	// Output:
	// loaded: pdf
	// forms.md, lines 1 to 1 of 1
	// # Forms
}

func ExampleUnload() {
	s, err := desk()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog.Close()
	call(s, tools.Load(), `{"skill":"pdf"}`)
	call(s, tools.Unload(), `{"skill":"pdf"}`)
	// Output:
	// loaded: pdf
	// unloaded: pdf
	// still loaded: none
}

func ExampleSearch() {
	s, err := desk()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog.Close()
	call(s, tools.Search(), `{"query":"forms"}`)
	// Output:
	// 1 of 1 skills match:
	// - pdf: Fill in PDF forms.
	// Load one with skill_load; if none fits, search again in other words.
}

// A host loads skills itself before the model is called.
func ExampleDeclare() {
	s, err := desk()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Catalog.Close()
	ctx := context.Background()
	declared, err := tools.Declare(ctx, s, []tools.Declared{{Skill: "pdf", Docs: []string{"forms.md"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rec, err := declared.Apply(ctx, &state.Record{}, state.Mark{})
	fmt.Println(rec.Active[0].Skill, rec.Active[0].Docs, err)
	_, err = tools.Declare(ctx, s, []tools.Declared{{Skill: "pfd"}})
	fmt.Println(err)
	// Output:
	// pdf [forms.md] <nil>
	// declared loads cannot be made: unknown skill "pfd"
}
