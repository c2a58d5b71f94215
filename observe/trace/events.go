package trace

import (
	"cmp"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/tracing/line"
)

// isTraced reports whether a trace has something about events of a kind.
func isTraced(k core.EventKind) bool {
	switch k {
	case core.SkillsOffered, core.SkillsSuggested, core.SkillLoaded, core.DocsSelected, core.SkillUnloaded, core.SkillCompleted,
		core.TextCleared, core.ToolAllowed, core.ToolAsked, core.ToolDenied, core.ToolApproval, core.CommandEnded, core.SkillUsed,
		core.SkillNotFound, core.PrefixBroken:
		return true
	}
	return false
}

// heldEvent is an event that waits for the next call of its agent.
type heldEvent struct {
	event *core.Event
	at    time.Time
}

// event writes the lines of an event, or holds it back until the next call.
func (r *recorder) event(i *item) {
	e := i.event
	a := r.agent(e.Key)
	inCall := e.Call.ID != "" || e.Call.Name != ""
	switch e.Kind {
	case core.PrefixBroken:
		a.broken = e.Cause
		return
	case core.SkillUnloaded:
		if e.Detail == "withdrawn" {
			a.withdrawn = map[string]bool{e.Skill: true}
		}
		return
	case core.SkillsOffered, core.SkillsSuggested, core.TextCleared, core.SkillLoaded, core.SkillCompleted, core.DocsSelected:
		if !inCall {
			r.hold(a, i)
			return
		}
	}
	ref := callRef{call: i.call, turn: e.Turn, fork: e.Fork}
	if made, ok := a.answered[e.Call.ID]; ok && e.Call.ID != "" {
		ref = made
	} else if i.call != 0 && a.last.call != i.call {
		r.queue.drop(len(r.linesOf(a, e, line.Head{})), errSlow) // the line of the call was dropped
		return
	} else if i.call != 0 {
		ref = a.last
	}
	r.write(a, e, i.at, ref)
}

// write writes the lines of an event, as those of a call.
func (r *recorder) write(a *agent, e *core.Event, at time.Time, ref callRef) {
	switch e.Kind {
	case core.SkillLoaded:
		a.noteLoad(e.Skill, e.Docs, ref.call)
	case core.DocsSelected:
		a.noteDocs(e.Skill, e.Docs, ref.call)
	}
	ref.fork, ref.turn = cmp.Or(ref.fork, e.Fork), cmp.Or(ref.turn, e.Turn)
	head := r.head(e.Key, at, ref)
	for _, l := range r.linesOf(a, e, head) {
		r.add(l)
	}
}

// hold keeps an event until the next call of its agent.
func (r *recorder) hold(a *agent, i *item) {
	if len(a.held) >= maxHeld {
		r.queue.drop(1, errSlow)
		return
	}
	if len(a.held) == 0 {
		a.heldSince = time.Now()
	}
	a.held = append(a.held, heldEvent{i.event, i.at})
	r.holding[a] = true
}

// noteHeld remembers the loads among the held events, so that the texts of the call know them.
func (a *agent) noteHeld(call int) {
	for _, h := range a.held {
		switch h.event.Kind {
		case core.SkillLoaded:
			a.noteLoad(h.event.Skill, h.event.Docs, call)
		case core.DocsSelected:
			a.noteDocs(h.event.Skill, h.event.Docs, call)
		}
	}
}

// releaseHeld writes the held events of an agent, as those of a call.
func (r *recorder) releaseHeld(a *agent, ref callRef) {
	for _, h := range a.held {
		r.write(a, h.event, h.at, ref)
	}
	a.held = nil
	delete(r.holding, a)
}

// dropHeld drops the held events of an agent, because the line of their call was dropped.
func (r *recorder) dropHeld(a *agent) {
	for _, h := range a.held {
		r.queue.drop(len(r.linesOf(a, h.event, line.Head{})), errSlow)
	}
	a.held = nil
	delete(r.holding, a)
}

// releaseOld writes events that have waited long for a call. With all, it writes all of them: no
// call will follow.
func (r *recorder) releaseOld(all bool) {
	for a := range r.holding {
		switch {
		case all:
			r.releaseHeld(a, callRef{})
		case time.Since(a.heldSince) >= holdTime:
			r.releaseHeld(a, callRef{call: a.last.call + 1})
		}
	}
}

// linesOf returns the lines of an event.
func (r *recorder) linesOf(a *agent, e *core.Event, head line.Head) []line.Line {
	switch e.Kind {
	case core.SkillsOffered:
		return []line.Line{&line.Offered{Head: as(head, line.EventOffered), Skills: list(e.Skills), Named: list(e.Named), Cut: e.Left}}
	case core.SkillsSuggested:
		return []line.Line{&line.Suggested{Head: as(head, line.EventSuggested), Skills: list(e.Skills)}}
	case core.SkillLoaded:
		by := cmp.Or(e.By, "host")
		if e.By == "" && e.Call.Name != "" {
			by = "model"
		}
		return []line.Line{&line.Loaded{Head: as(head, line.EventLoaded), Skill: e.Skill, Digest: digestOf(e.Digest), Tokens: e.Tokens, By: by, ID: e.Call.ID}}
	case core.SkillCompleted:
		return a.unloaded(e, head)
	case core.TextCleared:
		return cleared(e, head)
	case core.ToolAllowed:
		return r.decision(e, head, "allowed")
	case core.ToolAsked:
		return r.decision(e, head, "asked")
	case core.ToolDenied:
		return r.decision(e, head, "denied")
	case core.ToolApproval:
		return []line.Line{&line.Approval{Head: as(head, line.EventApproval), ID: e.Call.ID, Name: e.Call.Name, Approved: e.Approved, Reason: r.text(e.Detail)}}
	case core.CommandEnded:
		return []line.Line{r.command(e, head)}
	case core.SkillUsed:
		return []line.Line{&line.Used{Head: as(head, line.EventUsed), Skill: e.Skill, How: e.Detail, ID: e.Call.ID}}
	case core.SkillNotFound:
		return []line.Line{&line.NotFound{Head: as(head, line.EventNotFound), ID: e.Call.ID, Name: r.name(e.Detail), Near: list(e.Skills)}}
	}
	return nil
}

// list returns a list that is never null.
func list(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// endings are the words of the trace for why a load ended.
var endings = map[string]string{"answered": "once", "again": "turn"}

// unloaded returns the line of a load that has ended. The end of a session ends all loads and has no
// line.
func (a *agent) unloaded(e *core.Event, head line.Head) []line.Line {
	why := cmp.Or(endings[e.Detail], e.Detail)
	if a.withdrawn[e.Skill] {
		why = "withdrawn"
		delete(a.withdrawn, e.Skill)
	}
	if why == "session" {
		return nil
	}
	return []line.Line{&line.Unloaded{Head: as(head, line.EventUnloaded), Skill: e.Skill, Why: why}}
}

// cleared returns a line for each text that has left.
func cleared(e *core.Event, head line.Head) (lines []line.Line) {
	for _, doc := range append([]string{""}, e.Docs...) {
		lines = append(lines, &line.Cleared{Head: as(head, line.EventCleared), Skill: e.Skill, Doc: doc, Why: e.Cause})
	}
	return lines
}

// decision returns the line of a verdict.
func (r *recorder) decision(e *core.Event, head line.Head, verdict string) []line.Line {
	rule := e.Rule
	switch {
	case rule != "":
	case e.Skill != "":
		rule = "allowed-tools of " + e.Skill
	case verdict == "denied":
		rule = "gate"
	case verdict == "asked":
		rule = "approver"
	default:
		rule = cmp.Or(e.Detail, "no list")
		if first, _, ok := strings.Cut(rule, ":"); ok {
			rule = first
		}
	}
	return []line.Line{&line.Decision{
		Head: as(head, line.EventDecision), ID: e.Call.ID, Name: e.Call.Name, Decision: verdict, Skill: e.Skill, Rule: rule, Reason: r.text(e.Detail),
	}}
}

// command returns the line of a command that has ended.
func (r *recorder) command(e *core.Event, head line.Head) line.Line {
	l := &line.Run{Head: as(head, line.EventRun), ID: e.Call.ID, Skill: e.Skill, MS: e.Duration.Milliseconds(), Files: []line.File{}, Limits: map[string]int64{}}
	if e.ExitCode != nil {
		l.ExitCode = *e.ExitCode
	}
	if c := e.Command; c != nil {
		l.Command, l.TimedOut = r.text(c.Command), c.TimedOut
		for _, f := range c.Files {
			l.Files = append(l.Files, line.File{Path: r.text(f.Path), Bytes: f.Size})
		}
		if c.Limits != nil {
			l.Limits = c.Limits
		}
	}
	return l
}

// answer writes what the model answered.
func (r *recorder) answer(i *item) {
	m := i.answer
	key := requestKey{m.Key, m.ID}
	ref, ok := r.open.Get(key)
	if !ok {
		r.queue.drop(1, errSlow) // the line of the call was dropped
		return
	}
	r.open.Remove(key)
	head := r.head(m.Key, i.at, ref)
	if m.Err != nil {
		r.add(&line.Error{Head: as(head, line.EventError), Error: r.errorText(m.Err)})
		return
	}
	r.agent(m.Key).noteAnswer(m.Calls, ref)
	r.add(&line.Answer{
		Head: as(head, line.EventAnswer), Text: r.text(m.Text), ToolCalls: r.toolCalls(m.Calls), MS: m.Duration.Milliseconds(),
		PromptTokens: m.Usage.Prompt, CachedTokens: m.Usage.Cached, CompletionTokens: m.Usage.Completion,
	})
}

// errorText returns the text of an error, which may quote a prompt.
func (r *recorder) errorText(err error) string {
	if r.texts != Whole {
		return "(not kept)"
	}
	return r.text(err.Error())
}
