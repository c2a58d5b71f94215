package measure

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/eval"
)

// evalTable prints a report for people, in lines of at most 80 columns or the width of the terminal.
type evalTable struct {
	cli.Console
	out io.Writer
}

func (t *evalTable) write(r *eval.Report) {
	if !t.Watched {
		t.Width = evalColumns
	}
	t.Watched = true // lines are cut in a file too
	switch r.Mode {
	case eval.Offline:
		t.offline(r)
	case eval.Trigger:
		t.trigger(r)
	case eval.Outcome:
		t.outcome(r)
	}
	t.changes(r)
}

func (t *evalTable) offline(r *eval.Report) {
	rows := cli.Table{Console: t.Console}
	rows.Row("SKILL", "QUERIES", "FIRST", "FIRST 5", "FALSELY SUGGESTED")
	row := func(name string, recall *eval.Recall) {
		rows.Row(t.name(name), fmt.Sprint(recall.Queries), rateText(recall.Recall1), rateText(recall.Recall5), rateText(recall.FalseSuggestions))
	}
	for i := range r.Skills {
		row(r.Skills[i].Skill, r.Skills[i].Recall)
	}
	if r.Totals != nil && len(r.Skills) > 1 {
		row("(all)", &r.Totals.Recall)
	}
	_ = rows.Write(t.out)
	collisions := maps.Clone(r.Collisions)
	for i := range r.Skills { // no other skill keeps the model from a hidden one
		if r.Skills[i].Hidden != "" {
			delete(collisions, r.Skills[i].Skill)
		}
	}
	if len(collisions) > 0 {
		t.heading("Other skills that are found first, in how many queries:")
		for _, skill := range slices.Sorted(maps.Keys(collisions)) {
			before := collisions[skill]
			names := slices.SortedFunc(maps.Keys(before), func(a, b string) int {
				return cmp.Or(cmp.Compare(before[b], before[a]), cmp.Compare(a, b))
			})
			for i, name := range names {
				names[i] = fmt.Sprintf("%s %d", cli.Printable(name), before[name])
			}
			t.line("  %s: %s", t.name(skill), strings.Join(names, ", "))
		}
	}
	t.hidden(r)
	t.failing(r)
}

func (t *evalTable) trigger(r *eval.Report) {
	rows := cli.Table{Console: t.Console}
	rows.Row("SKILL", "TRIGGERED", "RATE", "95 %", "FALSELY", "ERRORS")
	for i := range r.Skills {
		s := &r.Skills[i]
		failed := map[bool]int{}
		for _, q := range r.Queries {
			if q.Skill == s.Skill && q.Trials != nil {
				failed[q.ShouldTrigger] += q.Errors
			}
		}
		rows.Row(t.name(s.Skill), counted(&s.Trigger, failed[true]), rateText(s.Trigger.Rate), between(&s.Trigger), counted(&s.False, failed[false]), fmt.Sprint(s.Errors))
	}
	_ = rows.Write(t.out)
	t.hidden(r)
	t.failing(r)
	t.spent(r)
}

// more returns a difference in a unit, "-" for none.
func more(difference *float64, format string, unit float64) string {
	if difference == nil {
		return "-"
	}
	return fmt.Sprintf(format, *difference/unit)
}

func (t *evalTable) outcome(r *eval.Report) {
	rows := cli.Table{Console: t.Console}
	rows.Row("SKILL", "EVAL", "WITH", "WITHOUT", "TOKENS", "SECONDS", "COST")
	for i := range r.Evals {
		e := &r.Evals[i]
		rows.Row(t.name(e.Skill), t.name(e.ID), rateText(e.With.PassRate), rateText(e.Without.PassRate),
			more(e.Difference.Tokens, "%+.0f", 1), more(e.Difference.MS, "%+.1f", 1000), more(e.Difference.Cost, "%+.0f", 1))
	}
	_ = rows.Write(t.out)
	t.hidden(r)
	var failed []string
	for i := range r.Evals {
		e := &r.Evals[i]
		if e.With.Trials == 0 {
			failed = append(failed, fmt.Sprintf("  %s %s: no trial ran without an error", t.name(e.Skill), t.name(e.ID)))
			continue
		}
		for _, a := range e.With.Assertions {
			if a.Passed == nil || *a.Passed < a.Decided {
				verdict := "no verdict"
				if a.Passed != nil {
					verdict = fmt.Sprintf("%d of %d", *a.Passed, a.Decided)
				}
				failed = append(failed, fmt.Sprintf("  %s %s: %s: %s", t.name(e.Skill), t.name(e.ID), verdict, cli.Printable(a.Assertion)), "    "+cli.Printable(a.Evidence))
			}
		}
	}
	if len(failed) > 0 {
		t.heading("Assertions that do not always hold with the skill:")
		for _, text := range failed {
			t.line("%s", text)
		}
	}
	t.spent(r)
}

// hidden prints the skills that the model does not see.
func (t *evalTable) hidden(r *eval.Report) {
	why, text := map[string]string{}, "The model does not see these skills, and cannot load them:"
	for i := range r.Skills {
		why[r.Skills[i].Skill] = r.Skills[i].Hidden
	}
	for i := range r.Evals {
		why[r.Evals[i].Skill] = r.Evals[i].Hidden
		text = "The model does not see these skills. Their trials begin with them loaded:"
	}
	maps.DeleteFunc(why, func(_, why string) bool { return why == "" })
	if len(why) > 0 {
		t.heading(text)
	}
	for _, skill := range slices.Sorted(maps.Keys(why)) {
		t.line("  %s: %s", t.name(skill), cli.Printable(why[skill]))
	}
}

// failing prints the queries that do not pass. Those of hidden skills are left out.
func (t *evalTable) failing(r *eval.Report) {
	failing := slices.DeleteFunc(r.Failing(), func(q eval.QueryResult) bool { return q.Hidden != "" })
	if len(failing) == 0 {
		return
	}
	t.heading("Queries that do not pass:")
	for i := range failing {
		q := &failing[i]
		t.line("  %s: %s", t.name(q.Skill), cli.Printable(q.Query))
		t.line("    %s", cli.Printable(q.Reason()))
	}
}

// spent prints what the model calls used.
func (t *evalTable) spent(r *eval.Report) {
	if r.Spent != nil {
		t.line("\n%s, %d prompt tokens (%d cached), %d completion tokens", cli.Count(r.Requests, "request"), r.PromptTokens, r.CachedTokens, r.CompletionTokens)
	}
}

// changes prints what differs from the baseline.
func (t *evalTable) changes(r *eval.Report) {
	if r.Changes == nil {
		return
	}
	if len(r.Changes) == 0 {
		t.heading("No change since the baseline.")
		return
	}
	t.heading("Changes since the baseline:")
	for _, change := range r.Changes {
		value := valueOf(r, &change)
		t.line("  %s: %s: %s, was %s: %s", change.Change, t.name(change.Skill), value(change.Is), value(change.Was), cli.Printable(cmp.Or(change.Query, change.ID)))
	}
}

// valueOf returns the function that shows what was and what is. Offline a rank of 0 is "not found",
// and false queries have no rank.
func valueOf(r *eval.Report, change *eval.Change) func(float64) string {
	asked := slices.IndexFunc(r.Queries, func(q eval.QueryResult) bool { return q.Skill == change.Skill && q.Query == change.Query })
	return func(value float64) string {
		switch {
		case r.Mode != eval.Offline || asked < 0:
		case r.Queries[asked].ShouldTrigger && value == 0:
			return "not found"
		case r.Queries[asked].ShouldTrigger:
		case value == 0:
			return "not suggested"
		default:
			return "suggested"
		}
		return fmt.Sprintf("%.3g", value)
	}
}

func (t *evalTable) heading(text string) {
	fmt.Fprintf(t.out, "\n%s\n", t.Paint(cli.Bold, text))
}

// line prints a line that fits.
func (t *evalTable) line(format string, args ...any) {
	fmt.Fprintln(t.out, t.Fit(fmt.Sprintf(format, args...)))
}

// name returns a name for a column.
func (t *evalTable) name(name string) string { return t.FitIn(cli.Printable(name), evalNameColumns) }

// rateText returns a rate for people, "-" for none.
func rateText(rate *float64) string {
	if rate == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100**rate)
}

// counted returns how many trials of an interval without an error have triggered, "-" for none.
func counted(i *eval.Interval, failed int) string {
	if i.Runs == failed {
		return "-"
	}
	return fmt.Sprintf("%d of %d", i.Triggered, i.Runs-failed)
}

// between returns the bounds of an interval.
func between(i *eval.Interval) string {
	if i.Low == nil || i.High == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f-%.0f %%", 100**i.Low, 100**i.High)
}
