package conversation_test

import (
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// A receipt of a selection lists docs that the model has seen before. In mode once
// a record that was lost shows again only those that the last call has asked for,
// as the record itself does.
func TestRebuiltSelectionIsShownOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		call string
		want string
	}{
		"added":        {`skill_select_docs {"skill":"s0","docs":["d1.md"],"mode":"add"}`, "4: {doc s0/d1.md v6}"},
		"asked again":  {`skill_select_docs {"skill":"s0","docs":["./d0.md","d1.md"]}`, "4: {doc s0/d0.md v4} {doc s0/d1.md v6}"},
		"in a wrapper": {`skill_select_docs {"__arg1":"{\"skill\":\"s0\",\"docs\":[\"d0.md\",\"d1.md\"]}"}`, "4: {doc s0/d0.md v4} {doc s0/d1.md v6}"},
		"all":          {`skill_select_docs {"skill":"s0","include_all_docs":true}`, "4: {doc s0/d0.md v4} {doc s0/d1.md v6} {doc s0/d2.md v8}"},
	} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(1)
			start := func() *satchel.Runtime {
				return chattest.Open(t, w.Files, satchel.WithStore(session.NewMemory()), satchel.WithLoading(satchel.Loading{Mode: loadmode.Once}))
			}
			c := chattest.NewChat(t, start()).Say(core.User, "one")
			c.Calls(`skill_load {"skill":"s0","docs":["d0.md"]}`)
			c.Calls(tt.call)
			chattest.Same(t, "shown", chattest.Where(c.View()), tt.want)
			c.Runtime = start()
			chattest.Same(t, "shown by another process", chattest.Where(c.View()), tt.want)
			for i := range c.Messages {
				c.Messages[i].CallID, c.Messages[i].Tool = "", ""
			}
			c.Runtime = start()
			chattest.Same(t, "shown without ids and names", chattest.Where(c.View()), tt.want)
		})
	}
}
