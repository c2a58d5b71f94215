package call

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/callctx"
	"github.com/satchel-go/satchel/internal/engine/needs"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
)

// Forks says which skills run as agents of their own, and how. A nil Forks runs none.
type Forks struct {
	Run func(context.Context, ForkRequest) (string, error)
	// Skills are the names of skills that the host wants to run so.
	Skills   []string
	MaxTurns int
}

// ForkRequest describes the agent of a fork.
type ForkRequest struct {
	Key, Parent core.SessionKey
	Skill       core.Skill
	Task, Text  string
	MaxTurns    int
}

// The values of the front-matter field context.
const (
	ContextFork        = "fork"
	ContextForkHistory = "fork_with_context"
)

// AsksToFork reports whether the front matter of a skill asks that it runs as an agent of its own.
func AsksToFork(skill core.Skill) bool {
	return skill.Context == ContextFork || skill.Context == ContextForkHistory
}

// Runs reports whether a skill runs as an agent of its own.
func (f *Forks) Runs(skills *catalog.Snapshot, skill core.Skill) bool {
	if f == nil {
		return false
	}
	return AsksToFork(skill) || slices.ContainsFunc(f.Skills, func(name string) bool {
		named, err := skills.Resolve(name)
		return err == nil && named.ID == skill.ID
	})
}

type forkLoadKey struct{}

// ForkLoad is the load with which a fork begins. External is set for a skill whose texts do not come
// from the catalog. Call is the call of the parent that has begun the fork.
type ForkLoad struct {
	tools.Load
	External *skilltools.ExternalSkill
	Call     core.ToolCall
}

// ForkLoadOf returns the load with which the fork of ctx begins.
func ForkLoadOf(ctx context.Context) ForkLoad {
	load, _ := ctx.Value(forkLoadKey{}).(ForkLoad)
	return load
}

// forkUnknownEnd answers a call whose forks have begun before, if it is not known how they ended.
const forkUnknownEnd = "error: this skill was begun before and its end is unknown: look at what it has left, and load it again if it shall run again"

// forked holds the answers of the skills of a call that have run as agents of their own, by the
// names in the call.
type forked map[string]string

// pausedForks is what a call keeps of its forks while one of them is interrupted.
type pausedForks struct {
	Done  forked            `json:"done,omitempty"`
	Spent callctx.ForkUsage `json:"spent"`
}

// namedSkill is a skill with the name that a call has for it.
type namedSkill struct {
	name  string
	skill core.Skill
	// external is set if the texts of the skill do not come from the catalog.
	external *skilltools.ExternalSkill
}

// loadOrFork answers a call that loads skills, of which some may run as agents of their own.
func (c *Call) loadOrFork(ctx context.Context) (string, error) {
	skills, err := c.skillsToFork(ctx)
	if err != nil {
		return "", err
	}
	if len(skills) == 0 {
		answer, err := c.load(ctx, nil)
		wants, ok := errors.AsType[*skilltools.WantsFork](err)
		if !ok {
			return answer, err
		}
		skills = []namedSkill{{wants.Skill.Skill.Name, wants.Skill.Skill, &wants.Skill}}
	}
	waits, err := c.waitsForFork(ctx)
	if err != nil {
		return "", err
	}
	if waits {
		c.place.Pause()
		return "", &adapter.ForkInterrupt{Err: errEarlierFork}
	}
	done, answer, isAnswered, err := c.runForks(ctx, skills)
	if err != nil || isAnswered {
		return answer, err
	}
	return c.load(context.WithoutCancel(ctx), done) // the record keeps the answer of a fork that was cancelled
}

// errEarlierFork reports a call whose skills wait for those of an earlier call of its response.
var errEarlierFork = errors.New("an earlier skill of the message waits for a person")

// waitsForFork reports whether an earlier call of the response has a fork that is interrupted.
func (c *Call) waitsForFork(ctx context.Context) (bool, error) {
	earlier := c.place.EarlierChanges()
	if len(earlier) == 0 {
		return false, nil
	}
	rec, err := c.record.Load(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(rec.Pending, func(p state.Pending) bool {
		return p.Fork > 0 && !p.Begun && !p.Done && slices.Contains(earlier, p.Call)
	}), nil
}

// runForks runs skills of the call as agents of their own, one after the other. If the call has run
// them before, isAnswered reports that answer is its answer.
func (c *Call) runForks(ctx context.Context, skills []namedSkill) (done forked, answer string, isAnswered bool, err error) {
	begun, was, err := c.record.BeginForks(ctx, skills)
	switch {
	case err != nil:
		return nil, "", false, err
	case !begun && !was.Done:
		return nil, forkUnknownEnd, true, c.record.EndLostForks(ctx, was)
	case !begun:
		answer, err = c.record.previousAnswer(ctx, was)
		return nil, answer, true, err
	}
	paused := c.record.pausedForks(ctx, was)
	done = paused.Done
	for i, s := range skills {
		if _, isDone := done[s.name]; isDone {
			continue
		}
		text, spent, err := c.fork(ctx, s, was.Fork+i, paused.Spent)
		if interrupt, ok := errors.AsType[*adapter.ForkInterrupt](err); ok {
			pause := pausedForks{Done: done, Spent: spent}
			if err := c.record.PauseForks(context.WithoutCancel(ctx), was, pause); err != nil {
				return nil, "", false, err
			}
			c.place.Pause()
			return nil, "", false, interrupt.Err
		}
		if err != nil {
			return nil, "", false, err
		}
		done[s.name], paused.Spent = text, callctx.ForkUsage{}
	}
	c.record.Invalidate() // others may have saved the record meanwhile
	return done, "", false, nil
}

// skillsToFork returns the skills of the call that run as agents of their own. A skill that is
// loaded already is not one of them.
func (c *Call) skillsToFork(ctx context.Context) (all []namedSkill, err error) {
	s := &c.scoped().Scope
	rec, err := s.Record(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range skilltools.NamesToLoad(s, rec, c.operation, c.args) {
		skill, err := skilltools.SkillToLoad(ctx, s, rec, name)
		if err == nil && c.Forks.Runs(c.skills(), skill) && rec.Find(skill.Name) == nil {
			all = append(all, namedSkill{name: name, skill: skill})
		}
	}
	return all, nil
}

// fork runs a skill as an agent of its own, the n-th of the calling agent, and returns the answer
// for the model. before is what it has spent before an interrupt. The error is an
// [adapter.ForkInterrupt], with what the fork has spent, or that of the store.
func (c *Call) fork(ctx context.Context, named namedSkill, n int, before callctx.ForkUsage) (string, callctx.ForkUsage, error) {
	skill := named.skill
	key := state.ForkKey(c.key, skill.Name, n)
	f := &callctx.Fork{Skill: skill.Name, Key: key, Parent: c.key, Turn: c.Agents.TurnOf(c.key), MaxCalls: c.Forks.MaxTurns}
	f.Resume(before)
	text, load, err := c.forkText(ctx, named)
	if refused, ok := errors.AsType[tools.ModelError](err); ok {
		return "error: " + string(refused), callctx.ForkUsage{}, nil
	}
	if err != nil {
		return "", callctx.ForkUsage{}, err
	}
	inner, err := c.forkContext(ctx, f, load)
	if err != nil {
		return "", callctx.ForkUsage{}, err
	}
	c.Stores.BeginFork(key)
	began := time.Now()
	c.Report.Emit(inner, core.Event{Kind: core.ForkBegun, Key: key, Skill: skill.Name})
	request := ForkRequest{Key: key, Parent: c.key, Skill: skill, Task: forkTask(skill.Name, c.scoped().Unmet(ctx, skill)), Text: text, MaxTurns: c.Forks.MaxTurns}
	said, err := c.runFork(inner, request)
	end := f.End()
	if _, ok := errors.AsType[*adapter.ForkInterrupt](err); ok && ctx.Err() == nil {
		c.Stores.PauseFork(key)
		return "", end.Spent, err
	}
	why := ""
	switch {
	case end.IsFull && err != nil:
		why = fmt.Sprintf("it has reached its limit of %d model calls", f.MaxCalls)
	case ctx.Err() != nil:
		why = "it was cancelled"
	case end.Refusal != nil && err != nil:
		why = "it could not begin: " + forkError(end.Refusal)
	case err != nil:
		why = "it failed: " + forkError(err)
	}
	if why != "" && said == "" {
		said = end.Said
	}
	after := context.WithoutCancel(inner)
	c.reportForkLoads(after, key)
	c.Report.Emit(after, core.Event{Kind: core.ForkEnded, Key: key, Skill: skill.Name, Usage: end.Spent.Tokens, Duration: time.Since(began), Detail: why, Err: err})
	if err := c.endFork(after, key); err != nil {
		c.Report.Log.WarnContext(ctx, "the state of a skill that ran as an agent cannot be removed", "session", key.Session, "agent", key.Agent, "err", err)
	}
	return forkAnswer(skill.Name, end.Spent, said, why), end.Spent, nil
}

// forkError returns an error as a line of at most maxForkError bytes.
func forkError(err error) string {
	return printable.CutLine(strings.Join(strings.Fields(err.Error()), " "), maxForkError)
}

// forkText returns the text of a skill that runs as an agent of its own, and the load that brings it.
// An error for the model is a [tools.ModelError].
func (c *Call) forkText(ctx context.Context, named namedSkill) (text string, load ForkLoad, err error) {
	load.External = named.external
	if load.Skill = named.skill.ID; load.External != nil {
		return load.External.WholeText(), load, nil
	}
	if c.Rules.OffersArguments || named.skill.TakesArguments {
		load.Arguments = skilltools.ArgumentsOf(c.args)
	}
	load.Docs, load.AllDocs = c.args.Texts("docs"), c.args.Flag("include_all_docs")
	text, err = skilltools.BodyText(ctx, &c.scoped().Scope, named.skill, load.Arguments)
	return text, load, err
}

// forkTask is the message of the user to the agent of a skill. unmet are the needs of the skill that
// are not met.
func forkTask(skill string, unmet []string) string {
	task := fmt.Sprintf("Carry out the skill %q, which is loaded. Nobody answers questions meanwhile. Your last message is the result, and all that is passed on.", skill)
	if line := needs.Line(unmet); line != "" {
		task += "\n" + line
	}
	return task
}

// forkContext returns the context of a fork. The lists of the calling agent hold in it.
func (c *Call) forkContext(ctx context.Context, f *callctx.Fork, load ForkLoad) (context.Context, error) {
	ctx, err := c.Allowlists.ToolContext(ctx, c.key, core.ToolCall{}, func(ctx context.Context) (*state.Record, error) {
		rec, err := c.record.Load(ctx)
		if err != nil {
			return nil, err
		}
		return c.place.RecordFor(rec), nil
	})
	if err != nil {
		return nil, err
	}
	ctx = adapter.WithTurn(adapter.WithSession(ctx, c.key), &adapter.Turn{Token: "fork"})
	load.Call = c.call
	return context.WithValue(callctx.WithFork(ctx, f), forkLoadKey{}, load), nil
}

// errNoForkAnswer reports a function of the host that has ended its goroutine.
var errNoForkAnswer = errors.New("its agent ended without an answer")

// runFork calls the host's function. A panic of it is an error. After ctx has ended, runFork waits
// for the function for at most maxForkEnd.
func (c *Call) runFork(ctx context.Context, request ForkRequest) (string, error) {
	type result struct {
		text string
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan result, 1)
	go func() {
		r := result{err: errNoForkAnswer}
		defer func() {
			if thrown := recover(); thrown != nil {
				r = result{err: fmt.Errorf("its agent panicked: %v", thrown)}
				c.Report.Log.ErrorContext(ctx, "the agent of a skill panicked", "skill", request.Skill.Name, "panic", fmt.Sprint(thrown), "stack", string(debug.Stack()))
			}
			done <- r
		}()
		r.text, r.err = c.Forks.Run(ctx, request)
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
	}
	end := time.NewTimer(maxForkEnd)
	defer end.Stop()
	select {
	case r := <-done:
		return r.text, r.err
	case <-end.C:
		return "", ctx.Err()
	}
}

// reportForkLoads reports that the loads of a fork end with its only turn.
func (c *Call) reportForkLoads(ctx context.Context, key core.SessionKey) {
	if c.Report.Hook == nil {
		return
	}
	if rec, err := c.Stores.Load(ctx, key); err == nil {
		c.Report.EmitAll(ctx, key, state.CompletedEvents(rec, &state.Record{Key: key}, "turn", c.Rules.Mode))
	}
}

// endFork ends what belongs to the agent of a fork.
func (c *Call) endFork(ctx context.Context, key core.SessionKey) error {
	if c.Terminals != nil {
		c.Terminals.End(func(k core.SessionKey) bool { return k == key })
	}
	c.Agents.Forget(key)
	return c.Stores.EndFork(ctx, key)
}

// forkAnswer formats the answer of a fork. why says why it did not finish, "" if it did.
func forkAnswer(skill string, spent callctx.ForkUsage, text, why string) string {
	var b strings.Builder
	plural := "s"
	if spent.Calls == 1 {
		plural = ""
	}
	fmt.Fprintf(&b, "[forked: %s, %d model call%s", printable.Line(skill), spent.Calls, plural)
	if tokens := spent.Tokens.Prompt + spent.Tokens.Completion; tokens > 0 {
		fmt.Fprintf(&b, ", %d tokens", tokens)
	}
	b.WriteString("]\n")
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	switch {
	case why != "" && text != "":
		b.WriteString("[not finished: " + why + "; what it said last follows]\n")
	case why != "":
		b.WriteString("[not finished: " + why + "]")
	case text == "":
		b.WriteString("[its last message has no text]")
	}
	return skilltools.WithoutReceipts(b.String() + text)
}
