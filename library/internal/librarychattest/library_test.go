package librarychattest_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/internal/librarychattest"
)

func memory(*testing.T) library.Store { return library.NewMemory() }

func TestConversations(t *testing.T) { librarychattest.Run(t, memory) }

// failingStore is a store that fails while a test wants it to.
type failingStore struct {
	library.Store
	down atomic.Bool
}

var errDown = errors.New("connection refused to db.internal:5432")

func (f *failingStore) Heads(ctx context.Context, tenant string, after int64) ([]library.Head, int64, error) {
	if f.down.Load() {
		return nil, 0, errDown
	}
	return f.Store.Heads(ctx, tenant, after)
}

func (f *failingStore) Grants(ctx context.Context, tenant, subject string) ([]library.Role, error) {
	if f.down.Load() {
		return nil, errDown
	}
	return f.Store.Grants(ctx, tenant, subject)
}

func TestStoreThatFails(t *testing.T) {
	store := &failingStore{Store: library.NewMemory()}
	librarychattest.Outage(t, store, func() { store.down.Store(true) }, func() { store.down.Store(false) })
}

// TestSmall checks that guidance and schemas of the vocabulary have less than 700 tokens of 4 bytes.
func TestSmall(t *testing.T) {
	l, err := library.New(library.NewMemory())
	if err != nil {
		t.Fatal(err)
	}
	r := chattest.Open(t, fstest.MapFS{}, library.With(l, library.AgentOptions{}), satchel.WithTools(satchel.Tools{Vocabulary: library.Vocabulary()}))
	size := len(library.Vocabulary().Guidance)
	for _, tool := range r.Tools() {
		size += len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}
	if size > 700*4 {
		t.Errorf("%d bytes", size)
	}
}

func TestDefaultVocabulary(t *testing.T) {
	store := library.NewMemory()
	l, err := library.New(store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Import(t.Context(), library.Actor{Tenant: "acme", Roles: []library.Role{"maintainer"}}, "forms", map[string][]byte{"SKILL.md": []byte("---\nname: forms\ndescription: Fill in forms.\n---\nUse the form tool.\n")}, false, ""); err != nil {
		t.Fatal(err)
	}
	chat := chattest.NewChat(t, chattest.Open(t, fstest.MapFS{}, satchel.WithTools(satchel.Tools{Profile: "knowledge_only"}), library.With(l, library.AgentOptions{Tenant: "acme"})))
	chat.Say(core.User, "Hello.")
	if got := chat.Calls(`skill_load {"skill":"forms"}`)[0]; !strings.HasPrefix(got, "loaded: forms") {
		t.Errorf("load gives %q", got)
	}
	if last := chattest.Shown(chat.View()); !strings.Contains(last, "Use the form tool.") {
		t.Errorf("shown is %q", last)
	}
}

// The texts of skill_update do not mention runSkill, which the default vocabulary does not have.
func TestDefaultVocabularyEdits(t *testing.T) {
	l, err := library.New(library.NewMemory())
	if err != nil {
		t.Fatal(err)
	}
	maintainer := library.Actor{Subject: "mia", Roles: []library.Role{"maintainer"}}
	made, err := l.Import(t.Context(), maintainer, "forms", map[string][]byte{"SKILL.md": []byte("---\nname: forms\ndescription: Fill in forms.\n---\nUse the form tool.\n")}, false, "")
	if err != nil {
		t.Fatal(err)
	}
	chat := chattest.NewChat(t, chattest.Open(t, fstest.MapFS{}, satchel.WithTools(satchel.Tools{Profile: "knowledge_only"}), library.With(l, library.AgentOptions{
		Edit: library.Allow, Actor: func(context.Context, core.SessionKey) (library.Actor, error) { return maintainer, nil },
	})))
	chat.Say(core.User, "Hello.")
	edit := func(expected, more string) string {
		t.Helper()
		got := chat.Calls(`skill_update {"action":"patch","skill":"forms","expectedVersionRef":"` + expected + `",` + more + `}`)[0]
		for _, lacks := range []string{"nspect", "runSkill", "run it", `action \"list`} {
			if strings.Contains(got, lacks) {
				t.Errorf("%q names what there is not: %s", more, got)
			}
		}
		return got
	}
	receipt := strings.Trim(chat.Calls(`skill_load {"skill":"forms"}`)[0], "]\n")
	seen := receipt[strings.LastIndex(receipt, "@")+1:]
	if seen != made.VersionRef {
		t.Errorf("the receipt %q ends with %q, not with %q", receipt, seen, made.VersionRef)
	}
	for _, test := range []struct{ expected, more, want string }{
		{"", `"patch":"-Use the form tool.\n+Fill.\n"`, "expectedVersionRef is missing: load the skill and send the versionRef at the end of the receipt"},
		{seen, `"edits":[{"from":5,"newText":"Fill."}]`, "load it again for the new one"},
		{seen, `"edits":[{"from":5,"newText":"Sign."}]`, "Load it again and make the change anew."},
	} {
		if got := edit(test.expected, test.more); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %q", test.more, got, test.want)
		}
	}
	if got := chat.Calls(`skill_update {"action":"copy","skill":"other","name":"mine"}`)[0]; !strings.Contains(got, `unknown skill \"other\": use a name from the list of available skills`) {
		t.Errorf("unknown: %s", got)
	}
	for _, tool := range chat.Runtime.Tools() {
		if text := tool.Description + string(tool.Schema); strings.Contains(text, "nspect") || strings.Contains(text, "runSkill") {
			t.Errorf("%s speaks of runSkill: %s", tool.Name, text)
		}
	}
}
