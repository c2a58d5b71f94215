package satchel_test

import (
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
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
			w := newWorld(1)
			start := func() *satchel.Runtime {
				return open(t, w.files, satchel.WithStore(session.NewMemory()), satchel.WithLoadMode(loadmode.Once))
			}
			c := newChat(t, start()).say(core.User, "one")
			c.calls(`skill_load {"skill":"s0","docs":["d0.md"]}`)
			c.calls(tt.call)
			same(t, "shown", where(c.view()), tt.want)
			c.runtime = start()
			same(t, "shown by another process", where(c.view()), tt.want)
			for i := range c.messages {
				c.messages[i].CallID, c.messages[i].Tool = "", ""
			}
			c.runtime = start()
			same(t, "shown without ids and names", where(c.view()), tt.want)
		})
	}
}
