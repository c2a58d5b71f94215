package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/tools"
)

// Activation says which skills a message activates.
type Activation struct {
	// Dollar and Slash are the ways in which users name skills.
	Dollar, Slash bool
	// Likely is how many skills that the message is likely to mean are suggested to the
	// model, 0 for none; with First, the first of them is loaded instead.
	Likely int
	First  bool
}

// Begin returns the record of a turn that begins with the loads of the skills that the
// user's message names, or is likely to mean. It may change rec.
func (a *Activation) Begin(ctx context.Context, s *skilltools.Scope, rec *state.Record, scan *state.Scan) (*state.Record, []core.Event, error) {
	text := scan.UserText()
	var events []core.Event
	if a.Dollar || a.Slash {
		var notes []string
		for _, name := range a.mentionedIn(s.Catalog().Snapshot(), text) {
			if rec.Find(name) == nil && s.Max > 0 && len(rec.Active) >= s.Max {
				notes = append(notes, fmt.Sprintf("not loaded, at most %d: %s", s.Max, name))
				continue
			}
			next, happened, err := Declare(ctx, s, rec, tools.Declared{Skill: name, Mentioned: true})
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
			note(rec, "skills_not_loaded", strings.Join(notes, "; "))
		}
	}
	if a.Likely == 0 || strings.TrimSpace(text) == "" {
		return rec, events, nil
	}
	likely, err := a.likely(ctx, s, rec, text)
	if err != nil || len(likely) == 0 {
		return rec, events, err
	}
	if !a.First {
		note(rec, "skills_suggested", steps.Escaped(strings.Join(likely, ", ")))
		s.Found(likely)
		return rec, events, nil
	}
	next, happened, err := Declare(ctx, s, rec, tools.Declared{Skill: likely[0], Guessed: true})
	if errors.Is(err, tools.ErrDeclared) {
		note(rec, "skills_not_loaded", fmt.Sprintf("not loaded: %s (%v)", likely[0], err))
		return rec, events, nil
	}
	return next, append(events, happened...), err
}

// note adds a text between tags to the user message of the turn.
func note(rec *state.Record, tag, text string) {
	rec.Notes = append(rec.Notes, state.Note{Anchor: rec.User, Text: "<" + tag + ">" + text + "</" + tag + ">"})
}

// likely names the skills that a text is likely to mean and that are not loaded.
func (a *Activation) likely(ctx context.Context, s *skilltools.Scope, rec *state.Record, text string) ([]string, error) {
	found, err := s.Catalog().Search(ctx, catalog.Query{Phrasings: endsOf(text), Messages: true, Recent: rec.LoadedLately(), Limit: a.Likely + len(rec.Active)})
	if err != nil {
		return nil, err
	}
	if found.ByWords != nil {
		s.Emit(ctx, core.Event{Kind: core.SearchByWords, Detail: found.ByWords.Error(), Err: found.ByWords})
	}
	var names []string
	isNamed := false
	for _, h := range found.Hits {
		if isNamed = isNamed || h.Explicit; isNamed && !h.Explicit {
			break // where the user names skills, no other is meant
		}
		if h.Strong && rec.Find(h.Skill.Name) == nil && len(names) < a.Likely {
			names = append(names, h.Skill.Name)
		}
	}
	return names, nil
}

// endsOf returns a text, or the beginning and the end of a long one: what is asked stands
// before or behind what was pasted.
func endsOf(text string) []string {
	text = strings.TrimSpace(text)
	first, last := 0, len(text)
	for n := 0; n < maxSearched && first < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[first:])
		first += size
	}
	for n := 0; n < maxSearched && last > first; n++ {
		_, size := utf8.DecodeLastRuneInString(text[:last])
		last -= size
	}
	if first == len(text) {
		return []string{text}
	}
	// A word that is cut at the front of the end is left out.
	if space := strings.IndexFunc(text[last:], unicode.IsSpace); last > first && space >= 0 {
		last += space
	}
	return []string{text[:first], text[last:]}
}

// Declare makes loads that no call made, at the user message of the turn, in the scope of
// the agent of rec.
func Declare(ctx context.Context, s *skilltools.Scope, rec *state.Record, loads ...tools.Declared) (*state.Record, []core.Event, error) {
	declaration, err := skilltools.Declare(ctx, s.WithRecord(rec), loads)
	if err != nil {
		return nil, nil, err
	}
	next, err := declaration.Apply(ctx, rec, rec.User)
	if err != nil {
		return nil, nil, err
	}
	return next, declaration.Events(), nil
}

// mentionedIn names the skills that a message mentions, each once, in their order.
func (a *Activation) mentionedIn(snapshot *catalog.Snapshot, text string) (names []string) {
	for _, word := range steps.Mentions(text, a.Dollar, a.Slash, maxMentions) {
		skill, ok := snapshot.Skill(word)
		if end := strings.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf }); !ok && end > 0 { // as in "$pdf把", without a space
			skill, ok = snapshot.Skill(word[:end])
		}
		if ok && skill.UserInvocable && !slices.Contains(names, skill.Name) {
			names = append(names, skill.Name)
		}
	}
	return names
}
