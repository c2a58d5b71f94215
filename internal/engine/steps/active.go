package steps

import (
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/loadmode"
)

const activeIntro = "These skills are loaded. Where they conflict, a later one takes precedence."

// activeSkills appends the content of the loaded skills to the host's system text,
// in load order.
func activeSkills(messages []core.Message, st *State) []core.Message {
	if len(st.Content.calls) == 0 {
		return messages
	}
	if st.Mode == loadmode.Once {
		hideAnswered(messages, st)
	}
	var b strings.Builder
	for _, a := range st.Record.Active {
		for i := range st.Content.calls {
			if st.shown[i] {
				continue
			}
			for j, block := range st.Content.calls[i].current {
				d := &st.Record.Deliveries[st.Content.calls[i].first+j]
				if d.Skill == a.Skill && !d.Old && block != "" {
					b.WriteByte('\n')
					b.WriteString(block)
				}
			}
		}
	}
	if b.Len() == 0 {
		return messages
	}
	text := "<active_skills>\n" + activeIntro + b.String() + "\n</active_skills>"
	if i := leadingSystem(messages); i >= 0 {
		extend(&messages[i], text)
		return messages
	}
	return insert(messages, 0, text)
}

// hideAnswered marks the calls whose content the model has already answered to as
// shown, so that they are not shown again.
func hideAnswered(messages []core.Message, st *State) {
	answered := st.answered(messages)
	for i := range st.Content.calls {
		d := &st.Record.Deliveries[st.Content.calls[i].first]
		st.shown[i] = !lifetime.ShowsElsewhere(st.Mode, d)
	}
	EachResult(messages, st.Delivers, func(i int) {
		if n := st.content(messages[i].Text); n >= 0 {
			st.shown[n] = !lifetime.Shows(st.Mode, i < answered)
		}
	})
}
