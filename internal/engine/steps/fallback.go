package steps

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

// FallbackHeading is the first line of the system message that holds loaded content
// whose own message is not in the request.
const FallbackHeading = "Loaded skill context:"

// fallback adds one system message with the content that is loaded but whose
// message is missing because it was cut from the history, was suppressed, or
// belongs to another process.
func fallback(messages []core.Message, st *State) []core.Message {
	var parts []string
	for i := range st.Content.Calls {
		if st.shown[i] {
			continue
		}
		c := &st.Content.Calls[i]
		for j := range c.Parts {
			d := &st.Record.Deliveries[c.First+j]
			if !st.attaches(d) {
				st.out.Hidden = append(st.out.Hidden, d.Key())
			} else if part := st.part(c, j); part != "" {
				st.out.Back = append(st.out.Back, d.Key())
				parts = append(parts, part)
			}
		}
	}
	if parts == nil {
		return messages
	}
	text := FallbackHeading + "\n\n" + strings.Join(parts, "\n\n")
	at := leadingSystem(messages) + 1
	if at > 0 && messages[at-1].Text == text {
		return messages
	}
	return insert(messages, at, text)
}

// part returns what one delivery shows in the fallback message. Text that a newer
// text supersedes normally stays until the next break: this message stands near the
// beginning of the request, and removing something from it breaks the prefix. But
// when the newer text itself has lost its place and moves into this message too,
// the prefix breaks anyway and the older text is dropped.
func (st *State) part(c *state.CallContent, j int) string {
	d := &st.Record.Deliveries[c.First+j]
	for i := range st.Content.Calls {
		newer := &st.Content.Calls[i]
		if st.shown[i] || newer.Call <= c.Call {
			continue
		}
		for k := newer.First; k < newer.Last; k++ {
			switch e := &st.Record.Deliveries[k]; {
			case e.Skill != d.Skill || e.Old:
			case d.Old:
				return ""
			case supersedesDoc(e, d):
				return c.Current[j]
			}
		}
	}
	return c.Parts[j]
}

// supersedesDoc reports whether e holds a newer text of a doc that d delivered.
func supersedesDoc(e, d *state.Delivery) bool {
	return slices.ContainsFunc(d.Docs, func(old state.Doc) bool {
		return old.Old && slices.ContainsFunc(e.Docs, func(doc state.Doc) bool { return doc.Name == old.Name })
	})
}

// attaches reports whether a delivery without a place in the request is shown in
// the fallback message.
func (st *State) attaches(d *state.Delivery) bool {
	if d.Ended || !lifetime.ShowsElsewhere(st.Mode, d) {
		return false
	}
	return !st.Summary || st.Rule == processors.SummaryAttach || st.Rule == processors.SummaryAuto && d.Seen
}

const activeIntro = "These skills are loaded. Where they conflict, a later one takes precedence."

// activeSkills appends the content of the loaded skills to the host's system text,
// in load order.
func activeSkills(messages []core.Message, st *State) []core.Message {
	if len(st.Content.Calls) == 0 {
		return messages
	}
	if st.Mode == loadmode.Once {
		hideAnswered(messages, st)
	}
	var b strings.Builder
	for _, a := range st.Record.Active {
		for i := range st.Content.Calls {
			if st.shown[i] {
				continue
			}
			for j, block := range st.Content.Calls[i].Current {
				d := &st.Record.Deliveries[st.Content.Calls[i].First+j]
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
	for i := range st.Content.Calls {
		d := &st.Record.Deliveries[st.Content.Calls[i].First]
		st.shown[i] = !lifetime.ShowsElsewhere(st.Mode, d)
	}
	EachResult(messages, st.Delivers, func(i int) {
		if n := st.content(messages[i].Text); n >= 0 {
			st.shown[n] = !lifetime.Shows(st.Mode, i < answered)
		}
	})
}
