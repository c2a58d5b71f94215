package call

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/callctx"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/search"
	"github.com/satchel-go/satchel/session"
)

// foreignTools maps the names of other agents' tools to Satchel's tools for the same purpose; the
// first one that is offered counts. An empty list means that Satchel has no such tool. Names are
// compared without case, "_" and "-".
var foreignTools = func() map[string][]string {
	read := []string{"skill_read", "skill_run", "skill_exec", "runSkill", "skill_select_docs"}
	look := []string{"skill_run", "skill_exec", "skill_read", "runSkill", "skill_list_docs"}
	run := []string{"skill_run", "skill_exec", "skills_run_script", "skills.run_script", "runSkill"}
	write := []string{"skill_run", "skill_exec"}
	load := []string{"skill_load", "runSkill"}
	stands := map[string][]string{}
	for names, tools := range map[string][]string{
		"read view cat readfile openfile viewfile notebookread fsread readtextfile":                                                              read,
		"glob grep ls find listdir listdirectory listfiles searchfiles greptool globtool codesearch filesearch":                                  look,
		"write edit multiedit writefile createfile editfile notebookedit strreplaceeditor strreplacebasededittool texteditor applypatch fswrite": write,
		"bash shell sh terminal runcommand execute exec executecommand runshellcommand runterminalcmd python killshell bashoutput killbash":      run,
		"skill useskill loadskill activateskill slashcommand command readskill":                                                                  load,
		"websearch webfetch fetch task agent todowrite todoread taskoutput exitplanmode enterplanmode askuserquestion":                           nil,
	} {
		for name := range strings.FieldsSeq(names) {
			stands[name] = tools
		}
	}
	return stands
}()

// unknownTool returns the answer to a call of a tool that does not exist. It quotes the name, and
// suggests a tool of the set for the same purpose, or tools with similar names. host are the
// names of the host's tools; a nil set offers nothing. The answer depends on nothing else, is
// printable and has at most 400 bytes.
func unknownTool(name string, set *skilltools.Set, host []string) string {
	text := "error: there is no tool " + quoteName(name)
	var own []string
	if set != nil {
		for _, t := range set.Tools() {
			own = append(own, t.Name)
		}
	}
	all := slices.Concat(own, host)
	lead := "; call one that you were given, such as "
	stand, isForeign := standIn(name, set)
	near := nearest(name, all)
	if isForeign {
		near = nearest(name, host)
	}
	switch {
	case stand != "":
		near = append([]string{stand}, near...)
		text, lead = text+": here "+strings.Join(near[:min(2, len(near))], " or ")+" stands for it", "; you were given "
	case len(near) > 0:
		text, lead = text+": did you mean "+strings.Join(near, " or ")+"?", " You were given "
	case isForeign && len(all) > 0:
		text, lead = text+", and none stands for it here", "; you were given "
	case len(all) == 0:
		return text + "; answer without tools"
	}
	return appendNames(text, lead, all)
}

// appendNames appends as many names to text as fit.
func appendNames(text, lead string, names []string) string {
	for i, name := range names {
		if i > 0 {
			lead = ", "
		}
		more := ""
		if i < len(names)-1 {
			more = ", …"
		}
		if len(text)+len(lead)+len(name)+len(more) > maxUnknown {
			if i > 0 {
				text += ", …"
			}
			break
		}
		text += lead + name
	}
	return text
}

// quoteName quotes and cuts a name from a model, and escapes invisible characters.
func quoteName(name string) string {
	shown := printable.Line(strconv.Quote(cut(name, maxQuoted)))
	for len(shown) > maxQuoted {
		name = cut(name, min(len(name), maxQuoted)*3/4)
		shown = printable.Line(strconv.Quote(name + "…"))
	}
	return shown
}

// cut returns the first characters of text, at most limit bytes.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}

// standIn returns the tool of the set for the same purpose as another agent's tool, "" if there
// is none. isForeign reports whether name is such a tool.
func standIn(name string, set *skilltools.Set) (tool string, isForeign bool) {
	if len(name) > search.MaxCompared {
		return "", false
	}
	wanted, isForeign := foreignTools[strings.Join(wordsOf(name), "")]
	if set == nil {
		return "", isForeign
	}
	for _, want := range wanted {
		if found := set.Providing(want); found != "" {
			return found, true
		}
	}
	return "", isForeign
}

// nearest returns at most three similar names, the nearest first.
func nearest(name string, names []string) []string {
	if len(name) > search.MaxCompared {
		return nil
	}
	words := wordsOf(name)
	folded := []rune(strings.Join(words, ""))
	type candidate struct {
		name string
		far  int
	}
	var near []candidate
	for _, n := range names {
		other := wordsOf(n)
		limit := max(2, min(len(folded)/3+1, 5))
		far := search.Distance(folded, []rune(strings.Join(other, "")), limit)
		if far == limit && (len(words) == 0 || len(other) == 0 || !containsAll(other, words) && !containsAll(words, other)) {
			continue
		}
		near = append(near, candidate{n, far})
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.far - b.far })
	var best []string
	for _, c := range near[:min(3, len(near))] {
		best = append(best, c.name)
	}
	return best
}

// containsAll reports whether all words are in of.
func containsAll(of, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(of, w) })
}

// wordsOf returns the words of a name in lower case. They are the same for "MultiEdit" and
// "multi_edit".
func wordsOf(name string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words, word = append(words, strings.ToLower(string(word))), nil
		}
	}
	lower := false
	for _, r := range name {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		if !letter || lower && unicode.IsUpper(r) {
			end()
		}
		if letter {
			word = append(word, r)
		}
		lower = letter && !unicode.IsUpper(r)
	}
	end()
	return words
}

// lostResult is the result of a call whose result the history lacks, if its tool exists.
const lostResult = "error: the result of this call was not kept; make the call again if you need it"

// UnknownTool returns the answer to a call of a tool that does not exist. It depends only on the
// name and on tools that never change: those of the runtime, unless the session sees no skill,
// and those of the host in ctx.
func (cs *Calls) UnknownTool(ctx context.Context, rec *state.Record, name string) string {
	set := cs.Offer.Set
	if rec.Turn > 0 && rec.NoSkills || rec.Turn == 0 && cs.Overviews.Of(cs.Audiences.Catalog).IsEmpty {
		set = nil
	}
	return unknownTool(name, set, callctx.HostTools(ctx))
}

// Missing returns a function that returns the result of a call which has none in the request. It
// returns nil if every call has one.
func (cs *Calls) Missing(ctx context.Context, req *core.Request, rec *state.Record) func(steps.Unanswered) string {
	if steps.AllAnswered(req.Messages) {
		return nil
	}
	return cs.missingFor(ctx, req.Key, slices.Concat(req.Tools, callctx.HostTools(ctx)), rec)
}

// missingFor is Missing for an agent with these host tools.
func (cs *Calls) missingFor(ctx context.Context, key core.SessionKey, has []string, rec *state.Record) func(steps.Unanswered) string {
	return func(u steps.Unanswered) string {
		name := u.Call.Name
		kept := rec.FindUnknown(state.UnknownCall{Turn: rec.Turn - u.Back, Response: u.Response, Position: u.Position}.WithCall(u.Call))
		if kept != nil && kept.Text != "" {
			if text, err := cs.Stores.Of(key).Pinned(ctx, key.Session, kept.Text); err == nil {
				return text
			}
		}
		if kept == nil && (cs.Offer.Set.Has(name) || slices.Contains(has, name)) {
			return lostResult
		}
		return cs.UnknownTool(ctx, rec, name)
	}
}

// cutAnswer is the end of an answer that [Call.Keep] has cut.
const cutAnswer = "\n[the rest of this answer was cut]"

// unknown answers a call of a tool that does not exist. It does not judge the call, because
// nothing runs.
func (c *Call) unknown(ctx context.Context) (string, error) {
	rec, err := c.record.Load(ctx)
	if err != nil {
		return "", err
	}
	answer := c.UnknownTool(ctx, rec, c.call.Name)
	return answer, c.keep(ctx, "")
}

// Keep keeps the answer of the host's own handler to a call of a tool that the agent does not
// have, and returns it. Frameworks do not pass such an answer to the host's history, so later
// views add it again. Keep cuts it to 4 KiB. The error is that of the store.
func (c *Call) Keep(ctx context.Context, answer string) (string, error) {
	answer = strings.ToValidUTF8(answer, "\uFFFD")
	if len(answer) > maxPinnedAnswer {
		answer = strings.ToValidUTF8(answer[:maxPinnedAnswer-len(cutAnswer)], "") + cutAnswer
	}
	pinned := catalog.Content{Text: answer, Digest: session.Digest(answer)}
	if err := c.Stores.Pin(ctx, c.key, pinned); err != nil {
		return "", err
	}
	return answer, c.keep(ctx, pinned.Digest)
}

// keep notes the answered call in the record. text is the digest of its pinned answer, or "".
func (c *Call) keep(ctx context.Context, text string) error {
	_, err := c.record.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		kept := state.UnknownCall{Turn: rec.Turn, Response: c.state.ResponseNumber(), Position: c.place.Position(), Text: text}.WithCall(c.call)
		if next := rec.Clone(); next.KeepUnknown(kept) {
			return next, "", nil
		}
		return nil, "", nil
	})
	return err
}
