package skilltools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/tools"
)

// Load returns the operation skill_load, which loads skills with the docs that the model names.
func Load() tools.Operation {
	return tools.Operation{
		Name:        "skill_load",
		Description: "Load skills.",
		Fields: []tools.Field{
			{Name: "skill", Kind: tools.Text, Aliases: skillAliases()},
			{Name: "skills", Kind: tools.Texts, Aliases: skillsAliases()},
			{Name: "docs", Kind: tools.Texts},
			{Name: "include_all_docs", Kind: tools.Flag},
			{Name: "mode", Kind: tools.Text, Enum: []string{"add", "replace"}},
			argumentsField(false),
		},
		Kind: tools.Changes,
		Call: With(load),
	}
}

func load(ctx context.Context, s *Scope, args tools.Args) (string, error) {
	names := namesOf(args)
	if len(names) == 0 {
		return "", tools.ModelErrorf(`name a skill, such as {"skill":"…"}`)
	}
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	if err := checkCap(s, rec, names); err != nil {
		return "", err
	}
	var r reply
	var value any
	if err := args.Value("arguments", &value); err != nil {
		return "", err
	}
	arguments := ""
	if value != nil {
		if arguments, err = s.argumentsOf(ctx, &r, value, names); err != nil {
			return "", err
		}
	}
	var texts []skillText
	names, ran := s.cutForked(names)
	for _, name := range names {
		t, err := readSkill(ctx, s, name, arguments, args.Texts("docs"), args.Flag("include_all_docs"))
		if refused, ok := errors.AsType[tools.ModelError](err); ok {
			s.reportNotFound(ctx, err)
			r.add("error: %s", refused)
			continue
		}
		if err != nil {
			return "", err
		}
		texts = append(texts, t)
	}
	if len(texts) == 0 {
		return strings.Join(append(ran, r.lines...), "\n"), nil
	}
	addUnknownDocs(&r, texts, args.Texts("docs"))
	for _, t := range texts {
		addUnreadable(&r, t.unreadable)
	}
	change := loading{scope: s, texts: texts, replace: args.Text("mode") == "replace", ran: ran}
	return change.save(ctx, &r)
}

// namesOf returns the skills that a call of skill_load names, each once.
func namesOf(args tools.Args) []string {
	names := slices.Clone(args.Texts("skill"))
	for _, n := range args.Texts("skills") {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// cutForked returns the names of skills that are still to be loaded, and the answers of those that
// have run as agents of their own.
func (s *Scope) cutForked(names []string) (toLoad, ran []string) {
	for _, name := range names {
		if text, ok := s.Forked[name]; ok {
			ran = append(ran, text)
			continue
		}
		toLoad = append(toLoad, name)
	}
	return toLoad, ran
}

// loading is the change of one load call. apply may run several times until the change is saved.
type loading struct {
	scope   *Scope
	texts   []skillText
	replace bool
	// anchor is the user message of a load without a call, and activation the reason of the load.
	anchor     *state.Mark
	activation string
	// isTask reports that the skill is the task of a fork.
	isTask bool
	// formatAnswer formats the answer. If it is nil, the answer is that of skill_load.
	formatAnswer AnswerFunc

	// ran are the answers of skills that have run as agents of their own.
	ran []string

	lines   []string
	receipt state.Receipt
	events  []core.Event
}

// Who asks for a load, as in [core.Event].By.
const (
	ByModel = "model"
	byUser  = "user"
	ByHost  = "host"
)

// How a skill is used, as in the Detail of [core.SkillUsed].
const (
	UsedRun   = "run"
	UsedDoc   = "doc"
	UsedNamed = "named"
)

// loader returns who asked for a load with that activation. The activation of a call is "".
func loader(activation string) string {
	switch activation {
	case "":
		return ByModel
	case "mention":
		return byUser
	}
	return ByHost
}

// save makes and saves the change, emits its events, and returns the answer.
func (l *loading) save(ctx context.Context, r *reply) (string, error) {
	missing := ""
	if slices.ContainsFunc(l.texts, lacksSomething) {
		missing = l.missing()
		r.add("%s", missing)
	}
	answer, err := l.scope.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		next, err := l.apply(ctx, rec)
		if err != nil || l.formatAnswer == nil {
			return next, r.join(l.answer()), err
		}
		notes := slices.Concat(l.ran, l.lines)
		if missing != "" {
			notes = append(notes, missing)
		}
		text, err := l.formatAnswer(next, notes, receiptText(l.receipt))
		return next, text, err
	})
	if err != nil {
		return "", err
	}
	l.scope.emitAll(ctx, l.events)
	return answer, nil
}

// apply returns the record after the change of rec.
func (l *loading) apply(ctx context.Context, rec *state.Record) (*state.Record, error) {
	next := rec.Clone()
	l.lines, l.events, l.receipt = nil, nil, state.Receipt{Call: l.scope.Number()}
	var keep []string
	for _, t := range l.texts {
		keep = append(keep, t.skill.Name)
	}
	if l.replace {
		for _, a := range rec.Active {
			if !slices.Contains(keep, a.Skill) && !next.IsPermanent(a.Skill) {
				next.Unload(a.Skill)
				l.addUnloaded(rec, "unloaded: "+a.Skill, a.Skill, core.SkillUnloaded, "replaced")
			}
		}
	}
	if err := l.checkRoom(next); err != nil {
		return nil, err
	}
	for i := range l.texts {
		if err := l.load(ctx, next, &l.texts[i]); err != nil {
			return nil, err
		}
	}
	for _, name := range l.scope.Evict(next, keep) {
		line := fmt.Sprintf("unloaded to make room (at most %d): %s", l.scope.Max, name)
		if _, stays := next.Body(name); stays {
			line += " (its text stays in view for now)"
		}
		l.addUnloaded(rec, line, name, core.SkillEvicted, "evicted")
	}
	l.events = append(l.events, l.scope.cleared(rec, next, state.ClearedByUnload)...)
	loaded := l.scope.beforeBudget(next)
	if err := l.evictForBudget(ctx, rec, next, keep); err != nil {
		return nil, err
	}
	line, err := l.scope.fitBudget(ctx, rec, next)
	if err != nil {
		return nil, err
	}
	l.events = append(l.events, l.scope.cleared(loaded, next, state.ClearedByBudget)...)
	if line != "" {
		l.lines, l.events = append(l.lines, line), append(l.events, budgetEvent(line))
	}
	l.addRestrictions(next)
	if slices.ContainsFunc(l.texts, lacksSomething) {
		l.addUnmet()
	}
	return next, nil
}

// lacksSomething reports whether needs of the skill are not met.
func lacksSomething(t skillText) bool { return len(t.unmet) > 0 }

// Evict unloads the skills above the cap, except for those in keep, and returns their names.
func (s *Scope) Evict(rec *state.Record, keep []string) []string {
	if s.KeepsTexts {
		return lifetime.EndLoads(rec, s.Max, keep, s.Victim)
	}
	return lifetime.Evict(rec, s.Max, keep, s.Victim)
}

// load loads one skill into next.
func (l *loading) load(ctx context.Context, next *state.Record, t *skillText) error {
	name, revision := t.skill.Name, ""
	if t.skill.Editable { // sources of other skills keep no revisions
		revision = t.skill.Revision
	}
	before := next.Find(name)
	hasNewRevision := before != nil && revision != "" && before.Revision != revision
	isOther := before != nil && before.ID != "" && before.ID != t.skill.ID || before == nil && next.WasOther(name, t.skill.ID)
	keep := next.KeepList
	if l.activation == guessed {
		keep = next.GuessList
	}
	keep(name, l.scope.Number(), t.skill.AllowedTools, t.skill.Repaired)
	next.Deny(name, l.scope.Number(), t.skill.DisallowedTools, l.activation == guessed)
	load := state.Load{
		Call: l.scope.Number(), Anchor: l.anchor, Skill: name, ID: t.skill.ID, Revision: t.skill.Revision, Digest: t.body.Digest,
		Rendered: t.rendered.Digest, HasArguments: t.hasArguments(),
		Docs: pinnedDocs(t.docs), All: t.all, Selected: pinnedDocs(t.selected), Listing: t.listing.Digest,
	}
	if l.anchor != nil && t.hasArguments() {
		load.Arguments = t.arguments
	}
	result := next.Load(load, l.scope.shows)
	if l.isTask {
		next.SetTask(name)
	}
	d := result.Delivery
	tokens, err := l.scope.tokensOf(ctx, &d)
	if err != nil {
		return err
	}
	l.addLine(name, &result, isOther)
	if d.Body || len(d.Docs) > 0 || result.IsNew || hasNewRevision {
		l.receipt.Changes = append(l.receipt.Changes, state.Change{
			Op: state.Loaded, Skill: name, Digest: d.Digest, Rendered: next.Rendered(name), Arguments: next.Arguments(name), Revision: revision, All: t.all, Docs: result.Docs,
		})
	}
	if before != nil && d.Body && d.Supersedes && !result.IsRestored {
		l.events = append(l.events, core.Event{Kind: core.SkillUnloaded, Skill: name, Detail: "changed"})
	}
	if result.IsNew {
		l.events = append(l.events, core.Event{Kind: core.SkillActivated, Skill: name, Detail: l.activation})
	}
	l.events = append(l.events, core.Event{
		Kind: core.SkillLoaded, Skill: name, Digest: d.Digest, Docs: result.Docs, By: loader(l.activation), Load: l.scope.Number(), Tokens: tokens,
	})
	if l.activation == "" && t.namesDocs && len(t.docs) > 0 {
		l.events = append(l.events, core.Event{Kind: core.SkillUsed, Skill: name, Detail: UsedDoc})
	}
	return nil
}

// addLine adds the line about a load to the answer. isOther reports that the name meant another
// loaded skill before.
func (l *loading) addLine(name string, result *state.LoadResult, isOther bool) {
	d := &result.Delivery
	line := "loaded: " + name
	switch {
	case result.IsNew && !d.Body:
		line += "; its text is above" // the receipt names new docs
	case d.Body && result.IsRestored:
		line += " (the whole text: this one supersedes the shorter one)"
	case d.Body && d.Supersedes && result.HasNewArguments:
		line += " (with other arguments: this text supersedes the earlier one)"
	case d.Body && d.Supersedes && isOther:
		line += " (another skill has this name now: its text supersedes that of the earlier one)"
	case d.Body && d.Supersedes:
		line += " (its text has changed: this one supersedes the earlier one)"
	case !d.Body:
		line = "already loaded: " + name + "; its text is above"
	}
	l.lines = append(l.lines, line)
}

// addRestrictions adds a line about the tools that may be called after a skill with a list was
// loaded.
func (l *loading) addRestrictions(next *state.Record) {
	listed := slices.ContainsFunc(l.texts, func(t skillText) bool { return t.skill.AllowedTools != nil || len(t.skill.DisallowedTools) > 0 })
	if listed {
		if line := l.scope.Restricted(next); line != "" {
			l.lines = append(l.lines, line)
		}
	}
}

// addUnloaded adds a skill that rec has loaded, and that is unloaded, to the answer, the receipt and the events.
func (l *loading) addUnloaded(rec *state.Record, line, skill string, kind core.EventKind, why string) {
	l.lines = append(l.lines, line)
	l.receipt.Changes = append(l.receipt.Changes, state.Change{Op: state.Unloaded, Skill: skill})
	l.events = append(l.events, core.Event{Kind: kind, Skill: skill})
	if !l.scope.hasEnded(rec, skill) {
		l.events = append(l.events, core.Event{Kind: core.SkillCompleted, Skill: skill, Detail: why})
	}
}

// receiptText returns the stored form of a receipt, "" if the call has changed nothing.
func receiptText(r state.Receipt) string {
	if len(r.Changes) == 0 {
		return ""
	}
	return r.String()
}

func (l *loading) answer() string {
	text := strings.Join(slices.Concat(l.ran, l.lines), "\n")
	if len(l.receipt.Changes) > 0 {
		text += "\n" + l.receipt.String()
	}
	return text
}

// AnswerFunc formats the result of a load or unload. next is the new record, and notes describe
// the change. receipt is "" if nothing changed.
type AnswerFunc func(next *state.Record, notes []string, receipt string) (string, error)

// checkRoom returns an error for a load above the cap, unless other skills are unloaded to make
// room.
func (l *loading) checkRoom(next *state.Record) error {
	if l.formatAnswer == nil || l.scope.EvictsOnLoad || l.scope.Max < 1 {
		return nil
	}
	more := 0
	for _, t := range l.texts {
		if next.Find(t.skill.Name) == nil {
			more++
		}
	}
	if loaded := next.Capped(); loaded+more > l.scope.Max {
		return tools.ModelErrorf(`%d loaded and %d more are over %d: load fewer, or use mode "replace"`, loaded, more, l.scope.Max)
	}
	return nil
}

// checkCap returns a [tools.ModelError] if a call names more skills than can be loaded at once.
// Preloaded skills and the task of a fork do not count.
func checkCap(s *Scope, rec *state.Record, names []string) error {
	if count := s.capped(rec, names); s.Max > 0 && count > s.Max {
		return tools.ModelErrorf("%d skills in one call are more than the %d that can be loaded; load fewer", count, s.Max)
	}
	return nil
}

// capped returns how many of the named skills count against the cap. It resolves the names only if
// there may be too many, and no more than 100 names above it.
func (s *Scope) capped(rec *state.Record, names []string) int {
	count := len(names)
	if s.Max < 1 || count <= s.Max || count > s.Max+len(rec.Preloads)+maxResolved {
		return count
	}
	for _, name := range names {
		if skill, err := s.resolveVisible(rec, name, true); err == nil && rec.IsPermanent(skill.Name) {
			count--
		}
	}
	return count
}
