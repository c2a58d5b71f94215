package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/tools"
)

// Activation decides which skills a user message loads or suggests.
type Activation struct {
	// Dollar and Slash report that "$name", and "/name" at the beginning of a line, load a skill.
	// Words reports that a name next to a word for "skill" loads one.
	Dollar, Slash, Words bool
	// Suggestions is how many likely skills the message suggests to the model, 0 for none. If
	// LoadFirst is set, the likeliest one is loaded instead.
	Suggestions int
	LoadFirst   bool
}

// Activated is what a user message has activated.
type Activated struct {
	Record *state.Record
	Events []core.Event
	// Refused are the skills that the message names and that could not be loaded.
	Refused []RefusedSkill
}

// RefusedSkill is a skill that a user message names and that could not be loaded.
type RefusedSkill struct {
	Name string
	// Why is a text for the model and the user.
	Why string
}

// Begin loads the skills that the user message names or most likely means. It may change rec.
func (a *Activation) Begin(ctx context.Context, s *skilltools.Scope, rec *state.Record, scan *state.Scan) (Activated, error) {
	text := scan.UserText()
	mentioned, denied := a.mentionedSkills(s.Catalog().Snapshot(), text)
	out, err := loadMentioned(ctx, s, rec, mentioned)
	if err != nil || a.Suggestions == 0 || len(mentioned) > 0 || strings.TrimSpace(text) == "" {
		return out, err
	}
	likely, byWords, err := a.likelySkills(ctx, s.Catalog(), rec, text, denied)
	if byWords != nil {
		s.Emit(ctx, core.Event{Kind: core.SearchByWords, Detail: byWords.Error(), Err: byWords})
	}
	if err != nil || len(likely) == 0 {
		return out, err
	}
	if !a.LoadFirst {
		note(rec, "skills_suggested", steps.Escaped(strings.Join(likely, ", ")))
		s.Found(likely)
		out.Events = append(out.Events, core.Event{Kind: core.SkillsSuggested, Skills: likely})
		return out, nil
	}
	next, happened, err := Declare(ctx, s, rec, tools.Load{Skill: likely[0], Guessed: true})
	if errors.Is(err, skilltools.ErrNotInvocable) {
		return out, nil
	}
	if refused, ok := errors.AsType[*skilltools.LoadError](err); ok {
		note(rec, "skills_not_loaded", fmt.Sprintf("not loaded: %s (%v)", likely[0], refused.Reason))
		return out, nil
	}
	out.Record, out.Events = next, append(out.Events, happened...)
	return out, err
}

// loadMentioned loads the skills that a user message names. A note tells the model of those that
// cannot be loaded. It may change rec.
func loadMentioned(ctx context.Context, s *skilltools.Scope, rec *state.Record, mentioned []tools.Load) (Activated, error) {
	out := Activated{Record: rec}
	var notes []string
	for _, load := range mentioned {
		name := load.Skill
		if rec := out.Record; rec.Find(name) == nil && s.Max > 0 && rec.Capped() >= s.Max {
			notes = append(notes, fmt.Sprintf("not loaded, at most %d: %s", s.Max, name))
			out.Refused = append(out.Refused, RefusedSkill{name, fmt.Sprintf("at most %d skills can be loaded", s.Max)})
			continue
		}
		next, happened, err := Declare(ctx, s, out.Record, load)
		if errors.Is(err, skilltools.ErrNotInvocable) {
			continue
		}
		if refused, ok := errors.AsType[*skilltools.LoadError](err); ok {
			notes = append(notes, fmt.Sprintf("not loaded: %s (%v)", name, refused.Reason))
			out.Refused = append(out.Refused, RefusedSkill{name, refused.Reason.Error()})
			continue
		}
		if err != nil {
			return Activated{}, err
		}
		out.Record, out.Events = next, append(out.Events, happened...)
	}
	if len(notes) > 0 {
		note(out.Record, "skills_not_loaded", strings.Join(notes, "; "))
	}
	return out, nil
}

// note adds text in a tag to the user message of the turn.
func note(rec *state.Record, tag, text string) {
	rec.Notes = append(rec.Notes, state.Note{Anchor: rec.User, Text: "<" + tag + ">" + text + "</" + tag + ">"})
}

// noteOnce is note for a text that no other note of the session has.
func noteOnce(rec *state.Record, tag, text string) {
	note(rec, tag, text)
	last := len(rec.Notes) - 1
	if slices.ContainsFunc(rec.Notes[:last], func(n state.Note) bool { return n.Text == rec.Notes[last].Text }) {
		rec.Notes = rec.Notes[:last]
	}
}

// Declare loads skills without a call, at the user message of the turn. s is the scope of the
// agent of rec.
func Declare(ctx context.Context, s *skilltools.Scope, rec *state.Record, loads ...tools.Load) (*state.Record, []core.Event, error) {
	declaration, err := skilltools.Declare(ctx, s.WithRecord(rec), loads)
	if err != nil {
		return nil, nil, err
	}
	return apply(ctx, declaration, rec)
}

// apply makes the loads of a declaration at the user message of the turn.
func apply(ctx context.Context, declaration *skilltools.Declaration, rec *state.Record) (*state.Record, []core.Event, error) {
	next, err := declaration.Apply(ctx, rec, rec.User)
	if err != nil {
		return nil, nil, err
	}
	if missing := declaration.Missing(); missing != "" {
		noteOnce(next, "skill_needs", steps.Escaped(missing))
	}
	return next, declaration.Events(), nil
}

// mentionedSkills returns the loads of the skills that a message names, each once: first those behind
// a sign, then those in words. denied are the skills that it asks in words not to use.
func (a *Activation) mentionedSkills(snapshot *catalog.Snapshot, text string) (loads []tools.Load, denied []string) {
	add := func(name, arguments string) {
		if !slices.ContainsFunc(loads, func(l tools.Load) bool { return l.Skill == name }) {
			loads = append(loads, tools.Load{Skill: name, Arguments: arguments, Mentioned: true})
		}
	}
	find := func(word string) (string, bool) {
		skill, ok := snapshot.Skill(word)
		return skill.Name, ok && skill.UserInvocable
	}
	var mentions []steps.Mention
	if a.Dollar || a.Slash {
		mentions = steps.Mentions(text, a.Dollar, a.Slash, maxMentions)
	}
	for _, m := range mentions {
		name, ok := find(m.Word)
		if end := strings.IndexFunc(m.Word, func(r rune) bool { return r >= utf8.RuneSelf }); !ok && end > 0 { // as in "$pdf把", without a space
			name, ok = find(m.Word[:end])
		}
		if ok {
			add(name, m.Arguments)
		}
	}
	if a.Words {
		findFold := func(word string) (string, bool) {
			skill, ok := snapshot.SkillFold(word)
			return skill.Name, ok && skill.UserInvocable
		}
		named, refused := steps.Words(text, findFold, maxMentions)
		denied = refused
		for _, name := range named {
			add(name, "")
		}
	}
	return loads, denied
}
