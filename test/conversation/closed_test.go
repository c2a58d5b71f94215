package conversation_test

import (
	"fmt"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// The messages of a session that was ended bring nothing back. That holds in this process and
// in another, at the next turn and in the middle of one. The messages of a session whose record
// was lost do bring its skills back.
func TestAnEndedSessionStaysEnded(t *testing.T) {
	t.Parallel()
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Once, loadmode.Session} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprint(mode, " in another process ", again), func(t *testing.T) {
				w, dir := chattest.NewWorld(2), t.TempDir()
				start := func() *satchel.Runtime {
					store, err := session.OpenDirectory(dir, session.WithSync(false))
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = store.Close() })
					return chattest.Open(t, w.Files, satchel.WithStore(store), satchel.WithLoading(satchel.Loading{Mode: mode}))
				}
				c := chattest.NewChat(t, start()).Say(core.User, "one")
				c.Calls("skill_load s0", `skill_load {"skill":"s1","docs":["d1.md"]}`)
				if err := c.Runtime.EndSession(c.Context, "chat"); err != nil {
					t.Fatal(err)
				}
				if again {
					c.Runtime = start()
				}
				chattest.Same(t, "in view after the end", chattest.Where(c.View()))
				c.Answer("done")
				c.Say(core.User, "two")
				chattest.Same(t, "in view at the next turn", chattest.Where(c.View()))
				chattest.Same(t, "loaded", c.LoadedNames())

				// The next session continues the numbers. If its record is lost, its own loads are
				// restored.
				answer := c.Calls("skill_load s1")[0]
				if receipt, ok := state.ParseReceipt(answer); !ok || receipt.Call != 3 {
					t.Errorf("the answer is %q, want the receipt of call 3", answer)
				}
				chattest.Same(t, "loaded", c.LoadedNames(), "s1[]")
				store, err := session.OpenDirectory(dir, session.WithSync(false))
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				if err := store.End(t.Context(), "chat"); err != nil {
					t.Fatal(err)
				}
				c.Runtime = start()
				c.View()
				chattest.Same(t, "loaded, record lost", c.LoadedNames(), "s1[]")
			})
		}
	}
}
