package measure

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/eval"
	"github.com/satchel-go/satchel/internal/tracing/page"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// writeHTML writes the page of --html: the tables of the report, and the traces of its trials.
func (f *EvalFlags) writeHTML(report *eval.Report) (err error) {
	out, err := os.Create(f.HTML)
	if err != nil {
		return fmt.Errorf("write --html: %w", err)
	}
	trace := f.trace
	if trace == nil {
		trace = &tracelog.Trace{}
	}
	buffered := bufio.NewWriter(out)
	err = page.Write(buffered, "satchel eval", trace, evalSection(report))
	if err == nil {
		err = buffered.Flush()
	}
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("write --html: %w", err)
	}
	return nil
}

// evalSection returns the tables of a report.
func evalSection(r *eval.Report) page.Section {
	s := page.Section{ID: "eval", Title: "Eval", Tables: []page.Table{}}
	if r.Stopped != "" {
		s.Tables = append(s.Tables, page.Table{Caption: "Stopped before the last trial: " + r.Stopped, Columns: []string{}, Rows: []page.Row{}})
	}
	for _, t := range []page.Table{changesTable(r), skillsTable(r), queriesTable(r), assertionsTable(r), trialsTable(r)} {
		if len(t.Rows) > 0 {
			s.Tables = append(s.Tables, t)
		}
	}
	return s
}

// cells returns cells without links.
func cells(texts ...string) (all []page.Cell) {
	for _, text := range texts {
		all = append(all, page.Cell{Text: text})
	}
	return all
}

// stateCell returns a cell that is good or bad.
func stateCell(isGood bool, text string) page.Cell {
	if isGood {
		return page.Cell{Text: text, State: "good"}
	}
	return page.Cell{Text: text, State: "bad"}
}

// percentOf returns a rate, or a dash for none.
func percentOf(rate *float64) string {
	if rate == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100**rate)
}

func intervalOf(i *eval.Interval) string {
	if i.Low == nil || i.High == nil {
		return percentOf(i.Rate)
	}
	return fmt.Sprintf("%s (%.0f to %.0f)", percentOf(i.Rate), 100**i.Low, 100**i.High)
}

func changesTable(r *eval.Report) page.Table {
	t := page.Table{Caption: "Since the baseline", Columns: []string{"Skill", "Request", "Was", "Is", ""}}
	for _, c := range r.Changes {
		row := page.Row{Data: map[string]string{"data-change": c.Change}}
		row.Cells = append(cells(c.Skill, c.Query+c.ID, fmt.Sprintf("%.3g", c.Was), fmt.Sprintf("%.3g", c.Is)), stateCell(c.Change == "better", c.Change))
		t.Rows = append(t.Rows, row)
	}
	return t
}

func skillsTable(r *eval.Report) page.Table {
	t := page.Table{Caption: "Skills", Columns: []string{"Skill", "Triggers (95 %)", "Triggers where it should not (95 %)", "Errors"}}
	if r.Mode == eval.Offline {
		t.Columns = []string{"Skill", "Recall at 1", "Recall at 5", "False suggestions"}
	}
	for i := range r.Skills {
		s := &r.Skills[i]
		row := page.Row{Data: map[string]string{"data-eval-skill": s.Skill}}
		name := s.Skill
		if s.Hidden != "" {
			name += " (hidden: " + s.Hidden + ")"
		}
		if s.Recall != nil {
			row.Cells = cells(name, percentOf(s.Recall1), percentOf(s.Recall5), percentOf(s.FalseSuggestions))
		}
		if s.Triggering != nil {
			row.Cells = cells(name, intervalOf(&s.Trigger), intervalOf(&s.False), strconv.Itoa(s.Errors))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func queriesTable(r *eval.Report) page.Table {
	t := page.Table{Caption: "Queries", Columns: []string{"Skill", "Query", "Should trigger", "Rate", "Result"}}
	if r.Mode == eval.Offline {
		t.Columns = []string{"Skill", "Query", "Should trigger", "Place", "Suggested", "Above it, or why it is suggested"}
	}
	for i := range r.Queries {
		q := &r.Queries[i]
		should := map[bool]string{true: "yes", false: "no"}[q.ShouldTrigger]
		row := page.Row{Data: map[string]string{"data-query": q.Query}}
		if q.Found != nil {
			row.Cells = append(cells(q.Skill, q.Query, should), foundCells(q)...)
		}
		if q.Trials != nil {
			rate := fmt.Sprintf("%s of %d", percentOf(q.Rate), q.Runs-q.Errors)
			result := stateCell(q.Pass, map[bool]string{true: "passes", false: "fails"}[q.Pass])
			if q.Hidden != "" {
				result.Text += ": " + q.Reason()
			}
			row.Cells = append(cells(q.Skill, q.Query, should, rate), result)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// foundCells says where a query finds its skill, whether it is suggested, and why. The first or the second
// decides whether the query passes.
func foundCells(q *eval.QueryResult) []page.Cell {
	var why []string
	for _, a := range q.Above {
		text := a.Skill
		if len(a.Words) > 0 {
			text += " (" + strings.Join(a.Words[:min(len(a.Words), evalWordsShown)], ", ") + ")"
		}
		why = append(why, text)
	}
	if !q.ShouldTrigger {
		why = q.Words
		if q.Suggested && len(why) == 0 {
			why = []string{"by meaning"}
		}
	}
	if q.Hidden != "" {
		why = []string{q.Reason()}
	}
	place := "not found"
	if q.Rank > 0 {
		place = strconv.Itoa(q.Rank)
	}
	all := cells(place, map[bool]string{true: "yes", false: "no"}[q.Suggested], strings.Join(why, ", "))
	if q.ShouldTrigger {
		all[0] = stateCell(q.Rank == 1, all[0].Text)
	} else {
		all[1] = stateCell(!q.Suggested, all[1].Text)
	}
	return all
}

func assertionsTable(r *eval.Report) page.Table {
	t := page.Table{Caption: "Evals", Columns: []string{"Skill", "Eval", "Assertion", "Decided by", "With the skill", "Without it", "Evidence with the skill"}}
	count := func(a *eval.AssertionResult) page.Cell {
		if a.Passed == nil {
			return page.Cell{Text: "not judged"}
		}
		return stateCell(*a.Passed == a.Decided, fmt.Sprintf("%d of %d", *a.Passed, a.Decided))
	}
	for i := range r.Evals {
		e := &r.Evals[i]
		for j := range e.With.Assertions {
			with, without := &e.With.Assertions[j], &e.Without.Assertions[j]
			row := page.Row{Data: map[string]string{"data-eval": e.ID}}
			row.Cells = append(cells(e.Skill, e.ID, with.Assertion, with.Kind),
				count(with), count(without), page.Cell{Text: with.Evidence})
			t.Rows = append(t.Rows, row)
		}
		note := ""
		if e.Hidden != "" {
			note = "trials with the skill begin with it loaded: hidden from the model: " + e.Hidden
		}
		t.Rows = append(t.Rows, page.Row{Data: map[string]string{"data-eval": e.ID}, Cells: cells(e.Skill, e.ID, "All assertions", "",
			sideOf(&e.With), sideOf(&e.Without), note)})
	}
	return t
}

// sideOf sums an eval with its skill, or without it.
func sideOf(s *eval.Side) string {
	return fmt.Sprintf("%s, %.0f tokens, %.1f s, cost %.0f", percentOf(s.PassRate), s.Tokens, s.MS/1000, s.Cost)
}

func trialsTable(r *eval.Report) page.Table {
	t := page.Table{Caption: "Trials", Columns: []string{"Trial", "Skill", "Request", "Result", "Tokens", "Time", "Trace"}}
	for i := range r.Trials {
		one := &r.Trials[i]
		number := strconv.Itoa(one.Trial.Number)
		if one.Trial.Without {
			number += " without"
		}
		row := page.Row{Data: map[string]string{"data-trial": one.Trial.Name()}}
		row.Cells = append(cells(number, one.Trial.Skill(), one.Trial.Prompt()), trialCell(one),
			page.Cell{Text: strconv.Itoa(one.Tokens)}, page.Cell{Text: fmt.Sprintf("%.1f s", one.MS/1000)})
		if one.Trace != "" {
			row.Cells = append(row.Cells, page.Cell{Text: "open", Call: one.Trace})
		} else {
			row.Cells = append(row.Cells, page.Cell{Text: "–"})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// trialCell says what came of a trial.
func trialCell(one *eval.TrialResult) page.Cell {
	switch {
	case one.Err != nil:
		return page.Cell{Text: "error: " + one.Err.Error(), State: "bad"}
	case one.Trial.Query != nil && len(one.Loaded) == 0:
		return page.Cell{Text: "loads nothing"}
	case one.Trial.Query != nil:
		return page.Cell{Text: "loads " + strings.Join(one.Loaded, ", ")}
	case one.Decided == 0:
		return page.Cell{Text: "not judged"}
	}
	return stateCell(one.Passed == one.Decided, fmt.Sprintf("%d of %d assertions hold", one.Passed, one.Decided))
}
