package call

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/callctx"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/search"
)

// foreign maps what the tools of other agents do to the tools that do it here, the first
// that is offered. An empty list says that no tool of Satchel does it. Names are compared
// without case, "_" and "-".
var foreign = func() map[string][]string {
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

// unknownTool returns the answer to a call of a tool that does not exist. It names the
// tool, and says which tool of the set stands for it or has a similar name. host are the
// names of the host's tools; a nil set offers nothing. The answer depends on nothing else,
// is printable and has at most 400 bytes.
func unknownTool(name string, set *skilltools.Set, host []string) string {
	text := "error: there is no tool " + echoed(name)
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
	return listed(text, lead, all)
}

// listed appends the names that fit to a text.
func listed(text, lead string, names []string) string {
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

// echoed quotes a name that a model wrote, with escapes for what people do not see. Long
// names are cut.
func echoed(name string) string {
	shown := printable.Line(strconv.Quote(cut(name, maxEchoed)))
	for len(shown) > maxEchoed {
		name = cut(name, min(len(name), maxEchoed)*3/4)
		shown = printable.Line(strconv.Quote(name + "…"))
	}
	return shown
}

// cut returns the beginning of a text, at most limit bytes of it, in whole characters.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}

// standIn returns the tool of the set that does what a tool of other agents does, "" for
// none, and whether the name is such a tool's.
func standIn(name string, set *skilltools.Set) (tool string, isForeign bool) {
	if len(name) > search.MaxCompared {
		return "", false
	}
	wanted, isForeign := foreign[strings.Join(wordsOf(name), "")]
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

// nearest returns at most three names that may have been meant, the nearest first.
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
		if far == limit && (len(words) == 0 || len(other) == 0 || !contains(other, words) && !contains(words, other)) {
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

// contains reports whether a name has all the words of another one.
func contains(of, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(of, w) })
}

// wordsOf returns the words of a name in lower case: "MultiEdit" and "multi_edit" have the
// same.
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

// lostResult is the result of a call of a tool that exists, which a history lacks.
const lostResult = "error: the result of this call was not kept; make the call again if you need it"

// UnknownTool returns the answer to a call of a tool that does not exist. It follows from
// the name and from tools that never change: those of the runtime, unless the session sees
// no skill, and those of the host that ctx names.
func (cs *Calls) UnknownTool(ctx context.Context, rec *state.Record, name string) string {
	set := cs.Offer.Set
	if rec.Turn > 0 && rec.NoSkills || rec.Turn == 0 && cs.Overviews.Of(cs.Audiences.Catalog).Empty {
		set = nil
	}
	return unknownTool(name, set, callctx.HostTools(ctx))
}

// Missing returns a function that finds the result of a call which has none in the request.
// It is nil where each call has one.
func (cs *Calls) Missing(ctx context.Context, req *core.Request, rec *state.Record) func(steps.Unanswered) string {
	if steps.AllAnswered(req.Messages) {
		return nil
	}
	return cs.lost(ctx, req.Key, slices.Concat(req.Tools, callctx.HostTools(ctx)), rec)
}

// lost is Missing for a request of an agent that has these tools beside Satchel's.
func (cs *Calls) lost(ctx context.Context, key core.SessionKey, has []string, rec *state.Record) func(steps.Unanswered) string {
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
