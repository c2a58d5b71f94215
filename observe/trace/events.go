package trace

import (
	"cmp"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/tracing/line"
)

// isTraced reports whether a trace has something about events of a kind.
func isTraced(k core.EventKind) bool {
	switch k {
	case core.TurnBegun, core.SkillsOffered, core.SkillsSuggested, core.SkillLoaded, core.SkillUnloaded, core.SkillCompleted,
		core.TextCleared, core.ToolAllowed, core.ToolAsked, core.ToolDenied, core.ToolApproval, core.CommandEnded, core.SkillUsed,
		core.SkillNotFound, core.PrefixBroken, core.ForkEnded:
		return true
	}
	return false
}

// heldEvent is an event that waits for the next call of its agent. A load by the model is one of an
// earlier call.
type heldEvent struct {
	event *core.Event
	at    time.Time
	ref   callRef
}

// event writes the lines of an event, or holds it back until the next call.
func (r *recorder) event(i *item) {
	e := i.event
	a := r.agent(e.Key)
	made, isOwn := a.answered[e.Call.ID]
	isOwn = isOwn && e.Call.ID != ""
	a.isSubagent = a.isSubagent || e.IsSubagent
	// A call of its parent has made the load with which a fork begins.
	inCall := isOwn || (e.Call.ID != "" || e.Call.Name != "") && !(e.Kind == core.SkillLoaded && e.Fork != "" && max(a.last.call, e.ModelCall) == 0)
	switch e.Kind {
	case core.TurnBegun:
		if e.Fork != "" {
			return
		}
		if a.turn != 0 { // what still waits for a call is of the turn before
			r.release(a)
		}
		r.beginTurn(a, i.at, e.Turn, e.Prompt)
		return
	case core.PrefixBroken:
		a.broken = e.Cause
		return
	case core.ForkEnded: // no call will follow
		r.writeEnded(a)
		r.writeHeld(a, a.last)
		return
	case core.SkillUnloaded:
		if e.Detail != changed { // the end of the load has an event of its own
			return
		}
	}
	hasCalls := !r.withoutCalls || e.Fork != ""
	ends := endsWithAnswer(e)
	if hasCalls && waits(e.Kind) && !inCall && !ends {
		a.held = r.hold(a, a.held, heldEvent{event: e, at: i.at})
		return
	}
	ref := callRef{call: i.call, turn: e.Turn, fork: e.Fork}
	switch {
	case isOwn:
		ref = made
	case e.ModelCall > i.call: // another process has made the call
		ref.call = e.ModelCall
	case i.call != 0 && a.last.call != i.call:
		r.queue.drop(len(r.linesOf(e, line.Head{})), errSlow) // the line of the call was dropped
		return
	case i.call != 0:
		ref = a.last
	}
	if e.Kind == core.SkillLoaded && ref.call != 0 {
		a.late = r.hold(a, a.late, heldEvent{e, i.at, ref})
		return
	}
	if ends {
		r.writeLate(a)
	}
	r.write(e, i.at, ref)
}

// endsWithAnswer reports whether an event is the end of a load that the last answer has ended. It does so in
// mode once, and with the only turn of a fork.
func endsWithAnswer(e *core.Event) bool {
	return e.Kind == core.SkillCompleted && (e.Detail == "answered" || e.Detail == "turn" && e.Fork != "")
}

// beginTurn writes the line of a user turn.
func (r *recorder) beginTurn(a *agent, at time.Time, turn int, prompt string) {
	a.turn = turn
	r.add(&line.Turn{Head: as(r.head(a.key, at, callRef{turn: turn}), line.EventTurn), Prompt: r.text(prompt)})
}

// waits reports whether events of a kind belong to the next call if no tool call has made them.
func waits(k core.EventKind) bool {
	switch k {
	case core.SkillsOffered, core.SkillsSuggested, core.TextCleared, core.SkillLoaded, core.SkillUnloaded, core.SkillCompleted:
		return true
	}
	return false
}

// write writes the lines of an event, as those of a call.
func (r *recorder) write(e *core.Event, at time.Time, ref callRef) {
	ref.fork, ref.turn = cmp.Or(ref.fork, e.Fork), cmp.Or(ref.turn, e.Turn)
	head := r.head(e.Key, at, ref)
	for _, l := range r.linesOf(e, head) {
		r.add(l)
	}
}

// hold adds an event to those of an agent that wait.
func (r *recorder) hold(a *agent, held []heldEvent, e heldEvent) []heldEvent {
	if len(held) >= maxHeld {
		r.queue.drop(1, errSlow)
		return held
	}
	if len(a.held)+len(a.late) == 0 {
		a.heldSince = e.at
	}
	r.holding[a] = true
	return append(held, e)
}

// writeLate writes the loads of earlier calls.
func (r *recorder) writeLate(a *agent) {
	for _, h := range a.late {
		a.setTokens(h.event)
		r.write(h.event, h.at, h.ref)
	}
	a.late = nil
}

// writeHeld writes all held events of an agent. ref is the next call.
func (r *recorder) writeHeld(a *agent, ref callRef) {
	r.writeLate(a)
	for _, h := range a.held {
		a.setTokens(h.event)
		r.write(h.event, h.at, ref)
	}
	a.held = nil
	delete(r.holding, a)
}

// setTokens sets the size of the texts of a load: those that it has brought, and those of the skill and
// its docs that were in the request before. It keeps the estimate if the last request lacks them.
func (a *agent) setTokens(e *core.Event) {
	if e.Kind != core.SkillLoaded {
		return
	}
	has := map[string]placedSize{} // the newest text of the body and of each doc
	for _, doc := range append([]string{""}, e.Docs...) {
		has[doc] = placedSize{load: -1}
	}
	for text, tokens := range a.sizes {
		if known, is := has[text.doc]; text.skill == e.Skill && text.load <= e.Load && (text.load == e.Load || is && text.load > known.load) {
			has[text.doc] = placedSize{text.load, tokens}
		}
	}
	sum, isNew := 0, false
	for _, text := range has {
		sum, isNew = sum+text.tokens, isNew || text.load == e.Load
	}
	if sum > 0 && (isNew || e.Tokens == 0) {
		e.Tokens = sum
	}
}

// dropHeld drops the events that belong to the next call, because the line of that was dropped.
func (r *recorder) dropHeld(a *agent) {
	for _, h := range a.held {
		r.queue.drop(len(r.linesOf(h.event, line.Head{})), errSlow)
	}
	a.held = nil
	r.writeHeld(a, callRef{})
}

// releaseOld writes events that have waited long for a call. With all, it writes all of them: no
// call will follow.
func (r *recorder) releaseOld(all bool) {
	for a := range r.holding {
		switch {
		case all:
			r.writeEnded(a)
			r.writeHeld(a, callRef{})
		case time.Since(a.heldSince) >= holdTime && !r.queue.hasRequest(a.key):
			r.release(a)
		}
	}
}

// nextCall returns the number that the call will have for which the events of a wait.
func (a *agent) nextCall() int {
	last := a.last.call
	for _, h := range a.held {
		last = max(last, h.event.ModelCall)
	}
	return last + 1
}

// release writes the events of an agent that wait for a call, with the number that this will have.
func (r *recorder) release(a *agent) {
	r.writeEnded(a)
	r.writeHeld(a, callRef{call: a.nextCall()})
}

// writeEnded writes what ended in the turn of the last call. It belongs to that call, because the next
// one is of another turn or has not begun.
func (r *recorder) writeEnded(a *agent) {
	r.writeLate(a)
	a.held = slices.DeleteFunc(a.held, func(h heldEvent) bool {
		hasEnded := h.event.Kind == core.SkillCompleted || h.event.Kind == core.TextCleared
		if !hasEnded || a.last.call == 0 || h.event.Turn != a.last.turn {
			return false
		}
		r.write(h.event, h.at, a.last)
		return true
	})
}

// linesOf returns the lines of an event.
func (r *recorder) linesOf(e *core.Event, head line.Head) []line.Line {
	switch e.Kind {
	case core.SkillsOffered:
		return []line.Line{&line.Offered{Head: as(head, line.EventOffered), Skills: list(e.Skills), Named: list(e.Named), Cut: e.Left}}
	case core.SkillsSuggested:
		return []line.Line{&line.Suggested{Head: as(head, line.EventSuggested), Skills: list(e.Skills)}}
	case core.SkillLoaded:
		return []line.Line{&line.Loaded{Head: as(head, line.EventLoaded), Skill: e.Skill, Digest: digestOf(e.Digest), Tokens: e.Tokens, By: by(e), ID: e.Call.ID}}
	case core.SkillCompleted, core.SkillUnloaded:
		return unloaded(e, head)
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

// by returns who asked for a load.
func by(e *core.Event) string {
	if e.By == "" && e.Call.Name != "" {
		return "model"
	}
	return cmp.Or(e.By, "host")
}

// list returns a list that is never null.
func list(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

// changed is why a load ended whose skill was loaded again with another text.
const changed = "changed"

// endings are the words of the trace for why a load ended, where events have others.
var endings = map[string]string{"answered": "once", "again": "turn"}

// unloaded returns the line of a load that has ended. The end of a session ends all loads and has no
// line.
func unloaded(e *core.Event, head line.Head) []line.Line {
	if e.Detail == "session" {
		return nil
	}
	return []line.Line{&line.Unloaded{Head: as(head, line.EventUnloaded), Skill: e.Skill, Why: cmp.Or(endings[e.Detail], e.Detail)}}
}

// cleared returns a line for each text that has left. An event without docs or with a digest is about
// the body too.
func cleared(e *core.Event, head line.Head) (lines []line.Line) {
	docs := e.Docs
	if e.Digest != "" || len(docs) == 0 {
		docs = append([]string{""}, docs...)
	}
	for _, doc := range docs {
		lines = append(lines, &line.Cleared{Head: as(head, line.EventCleared), Skill: e.Skill, Doc: doc, Why: e.Cause})
	}
	return lines
}

// decision returns the line of a verdict.
func (r *recorder) decision(e *core.Event, head line.Head, verdict string) []line.Line {
	rule := cmp.Or(e.Rule, e.Decider)
	if rule == "" && e.Skill != "" {
		rule = "allowed-tools of " + e.Skill
	}
	return []line.Line{&line.Decision{
		Head: as(head, line.EventDecision), ID: e.Call.ID, Name: e.Call.Name, Decision: verdict, Skill: e.Skill, Rule: cmp.Or(rule, "no rule"), Reason: r.text(e.Detail),
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
		PromptTokens: m.Usage.Prompt, CachedTokens: m.Usage.Cached, CompletionTokens: m.Usage.Completion, Alternatives: r.alternatives(m.Alternatives),
	})
}

// errorText returns the text of an error, which may quote a prompt.
func (r *recorder) errorText(err error) string {
	if r.texts != Whole {
		return "(not kept)"
	}
	return r.text(err.Error())
}
