package satchel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// WithLifecycle reports every skill of the catalog as discovered and registered, when it
// is read and when it changes. The other stations of skills are always events.
func WithLifecycle() Option {
	return func(s *settings) error {
		s.lifecycle = true
		return nil
	}
}

// WithMentions loads skills that the user names: with Dollar "$name" anywhere in a
// message, with Slash "/name" at the beginning of a line, both outside code. They are
// loads of that turn, in their order and up to the cap; skills that are hidden from the
// model can be named too. What no skill is called is left alone. The default is none.
func WithMentions(ways Mentions) Option {
	return func(s *settings) error {
		if ways > Dollar|Slash {
			return fmt.Errorf("%w: WithMentions: %d", ErrOption, ways)
		}
		s.mentions = ways
		return nil
	}
}

// WithActivation searches for the skills that each message of the user is likely to mean.
// Suggest names at most so many of them in that message, and LoadFirst loads the first, as
// a declared load. The default is neither; the model finds skills by itself.
func WithActivation(a Activation, most int) Option {
	return func(s *settings) error {
		if a != Suggest && a != LoadFirst || most < 1 {
			return fmt.Errorf("%w: WithActivation: %d, %d", ErrOption, a, most)
		}
		s.activation, s.suggested = a, most
		return nil
	}
}

// WithToolActivation denies calls of the host's tools for as long as none of their skills
// is loaded, and says which skill to load. The tools that are offered stay the same.
func WithToolActivation(skills map[string][]string) Option {
	return func(s *settings) error {
		if s.activates == nil {
			s.activates = make(map[string][]string, len(skills))
		}
		for tool, names := range skills {
			if tool == "" || len(names) == 0 {
				return fmt.Errorf("%w: WithToolActivation: tool %q without a skill", ErrOption, tool)
			}
			s.activates[tool] = append(s.activates[tool], names...)
		}
		return nil
	}
}

// WithReferences says what becomes of the docs that the body of a skill names in links and
// code, when it is loaded: tools.ReferencesOff, the default, leaves them to the model,
// tools.ReferencesList lists them behind the body, and tools.ReferencesInline brings them
// with it, at most 16 docs and 6,000 tokens, and says which do not fit. These docs are
// selected docs like others.
func WithReferences(how tools.References) Option {
	return func(s *settings) error {
		if how > tools.ReferencesInline {
			return fmt.Errorf("%w: WithReferences: %d", ErrOption, how)
		}
		s.references = how
		return nil
	}
}

// maxMentions bounds the names of one message that are looked up.
const maxMentions = 64

// activate returns the record of a turn that begins with the loads of the skills that the
// user's message names, or is likely to mean.
func (r *Runtime) activate(ctx context.Context, rec *session.Record, messages []core.Message) (*session.Record, []core.Event, error) {
	text := newestOfUser(messages)
	var events []core.Event
	if r.mentions != 0 {
		var notes []string
		for _, name := range r.mentionedIn(r.audiences.SeenBy(r.states.Of(rec.Key)).Snapshot(), text) {
			if rec.Find(name) == nil && r.max > 0 && len(rec.Active) >= r.max {
				notes = append(notes, fmt.Sprintf("not loaded, at most %d: %s", r.max, name))
				continue
			}
			next, happened, err := r.declare(ctx, rec, Load{Skill: name, Mentioned: true})
			if errors.Is(err, tools.ErrDeclared) {
				notes = append(notes, fmt.Sprintf("not loaded: %s (%v)", name, err))
				continue
			}
			if err != nil {
				return nil, nil, err
			}
			rec, events = next, append(events, happened...)
		}
		if len(notes) > 0 {
			rec.Notes = append(rec.Notes, session.Note{Anchor: rec.User, Text: "<skills_not_loaded>" + strings.Join(notes, "; ") + "</skills_not_loaded>"})
		}
	}
	if r.activation == 0 || strings.TrimSpace(text) == "" {
		return rec, events, nil
	}
	likely, err := r.likely(ctx, rec, text)
	if err != nil || len(likely) == 0 {
		return rec, events, err
	}
	if r.activation == Suggest {
		rec.Notes = append(rec.Notes, session.Note{Anchor: rec.User, Text: "<skills_suggested>" + processors.Escaped(strings.Join(likely, ", ")) + "</skills_suggested>"})
		r.states.Of(rec.Key).Found(likely)
		return rec, events, nil
	}
	next, happened, err := r.declare(ctx, rec, Load{Skill: likely[0]})
	if errors.Is(err, tools.ErrDeclared) {
		return rec, events, nil // the model may load it by itself, and is told why it cannot
	}
	return next, append(events, happened...), err
}

// likely names the skills that a text is likely to mean and that are not loaded.
func (r *Runtime) likely(ctx context.Context, rec *session.Record, text string) ([]string, error) {
	found, err := r.audiences.SeenBy(r.states.Of(rec.Key)).Search(ctx, catalog.Query{Phrasings: []string{text}, Recent: rec.LoadedLately(), Limit: r.suggested + len(rec.Active)})
	if err != nil {
		return nil, err
	}
	if found.ByWords != nil {
		r.emit(ctx, core.Event{Kind: core.SearchByWords, Key: rec.Key, Detail: found.ByWords.Error(), Err: found.ByWords})
	}
	var names []string
	for _, h := range found.Hits {
		if h.Strong && rec.Find(h.Skill.Name) == nil && len(names) < r.suggested {
			names = append(names, h.Skill.Name)
		}
	}
	return names, nil
}

// declare makes loads that no call made, at the user message of the turn.
func (r *Runtime) declare(ctx context.Context, rec *session.Record, loads ...Load) (*session.Record, []core.Event, error) {
	scope := r.scope(rec.Key, r.states.Of(rec.Key))
	scope.Record = func(context.Context) (*session.Record, error) { return rec, nil }
	declaration, err := tools.Declare(ctx, scope, loads)
	if err != nil {
		return nil, nil, err
	}
	next, err := declaration.Apply(ctx, rec, rec.User)
	if err != nil {
		return nil, nil, err
	}
	return next, declaration.Events(), nil
}

// newestOfUser is the text of the newest message that a user wrote.
func newestOfUser(messages []core.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if m := &messages[i]; m.Role == core.User && !m.Rewritten {
			return m.Text[:len(m.Text)-len(m.Added)]
		}
	}
	return ""
}

// mentionedIn names the skills that a message mentions, each once, in their order.
func (r *Runtime) mentionedIn(snapshot *catalog.Snapshot, text string) (names []string) {
	for _, word := range processors.Mentions(text, r.mentions&Dollar != 0, r.mentions&Slash != 0, maxMentions) {
		if skill, ok := snapshot.Skill(word); ok && skill.UserInvocable && !slices.Contains(names, skill.Name) {
			names = append(names, skill.Name)
		}
	}
	return names
}

// completed are the events of skills that were loaded and are no longer so, but for those
// whose end was told before.
func completed(before, after *session.Record, why string, told func(skill string) bool) (events []core.Event) {
	for _, a := range before.Active {
		if after.Find(a.Skill) == nil && (told == nil || !told(a.Skill)) {
			events = append(events, core.Event{Kind: core.SkillCompleted, Key: before.Key, Skill: a.Skill, Detail: why})
		}
	}
	return events
}

// answered are the events of loads of mode Once that the model has answered.
func answeredLoads(before, after *session.Record) (events []core.Event) {
	for i := range before.Deliveries {
		d := &before.Deliveries[i]
		if d.Body && !d.Spent && i < len(after.Deliveries) && after.Deliveries[i].Spent && before.Find(d.Skill) != nil {
			events = append(events, core.Event{Kind: core.SkillCompleted, Key: before.Key, Skill: d.Skill, Detail: "answered"})
		}
	}
	return events
}
