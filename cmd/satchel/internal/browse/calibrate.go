package browse

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// labelled is a line of the file of --calibrate. Skill is nil if no skill is for the query.
type labelled struct {
	Query string  `json:"query"`
	Skill *string `json:"skill"`
}

// thresholdRow says what a threshold would find. The names of the fields are stable.
type thresholdRow struct {
	Threshold float64 `json:"threshold"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
	// Found counts the requests whose skill is found, Wrong the other skills that are found, and
	// FalseAlarms the requests without a skill for which one is found.
	Found       int `json:"found"`
	Wrong       int `json:"wrong"`
	FalseAlarms int `json:"false_alarms"`
}

// calibration is the answer of --calibrate --json.
type calibration struct {
	thresholdRow
	Queries int            `json:"queries"`
	Table   []thresholdRow `json:"table"`
}

// measured is a labelled request with the similarities of all skills: right is that of its skill, and
// others are those of the rest.
type measured struct {
	hasSkill bool
	right    float64
	others   []float64
}

// calibrate prints the threshold with the best F1 and a table of thresholds.
func (cmd *SearchCommand) calibrate(ctx context.Context, c cli.Console, skills *catalog.Catalog, out io.Writer) error {
	requests, err := readLabelled(c, cmd.Calibrate)
	if err != nil {
		return err
	}
	var all []measured
	for i, r := range requests {
		near, err := skills.Similarities(ctx, r.Query)
		if err != nil {
			return fmt.Errorf("calibrate: %w", err)
		}
		m := measured{}
		for name, cosine := range near {
			if r.Skill == nil || name != *r.Skill {
				m.others = append(m.others, cosine)
			}
		}
		if r.Skill != nil {
			if m.right, m.hasSkill = near[*r.Skill]; !m.hasSkill {
				return fmt.Errorf("--calibrate %s: request %d: no skill is named %q", cmd.Calibrate, i+1, *r.Skill)
			}
		}
		all = append(all, m)
	}
	best := calibrateBest(all)
	if cmd.JSON {
		return cli.WriteJSON(out, best)
	}
	if best.Found == 0 {
		return errors.New("calibrate: no threshold finds a skill; try another model")
	}
	fmt.Fprintf(out, "best threshold: %.2f (F1 %.2f over %s)\n\n", best.Threshold, best.F1, cli.Count(best.Queries, "request"))
	fmt.Fprintln(out, "threshold  precision  recall    F1  found  wrong  false alarms")
	for _, row := range best.Table {
		mark := ""
		if row.Threshold == best.Threshold {
			mark = "  best"
		}
		fmt.Fprintf(out, "%9.2f  %9.2f  %6.2f  %4.2f  %5d  %5d  %12d%s\n", row.Threshold, row.Precision, row.Recall, row.F1, row.Found, row.Wrong, row.FalseAlarms, mark)
	}
	return nil
}

// readLabelled reads the file of --calibrate; "-" is standard input.
func readLabelled(c cli.Console, name string) (all []labelled, err error) {
	in := c.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%w: --calibrate: %w", cli.ErrStart, err)
		}
		defer f.Close()
		in = f
	}
	lines := bufio.NewReader(in)
	for number := 1; ; number++ {
		text, err := cli.ReadLine(lines)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && strings.TrimSpace(text) == "" {
			continue
		}
		r := labelled{}
		if err == nil {
			err = cli.JSONError(json.Unmarshal([]byte(text), &r))
		}
		if err == nil && strings.TrimSpace(r.Query) == "" {
			err = errors.New(`"query" is missing`)
		}
		if err == nil && !hasField(text, "skill") { // a misspelt field must not count as no skill
			err = errors.New(`"skill" is missing`)
		}
		if err != nil {
			return nil, fmt.Errorf(`--calibrate %s: line %d: %w: want {"query":"…","skill":"NAME"}, or null for no skill`, name, number, err)
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("--calibrate %s: no requests", name)
	}
	return all, nil
}

// hasField reports whether a JSON object has a field, which may be null.
func hasField(object, name string) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &fields) != nil {
		return false
	}
	_, ok := fields[name]
	return ok
}

// calibrateBest returns the threshold with the best F1, in hundredths. Of several it returns the one
// in the middle of the longest run. The table has twentieths and the best one.
func calibrateBest(all []measured) calibration {
	rows := make([]thresholdRow, 0, 100)
	for hundredths := 1; hundredths <= 100; hundredths++ {
		rows = append(rows, rowAt(all, float64(hundredths)/100))
	}
	first, last := 0, 0
	for i := 0; i < len(rows); {
		end := i
		for end+1 < len(rows) && rows[end+1].F1 == rows[i].F1 {
			end++
		}
		if rows[i].F1 > rows[first].F1 || rows[i].F1 == rows[first].F1 && end-i > last-first {
			first, last = i, end
		}
		i = end + 1
	}
	at := (first + last) / 2
	best := calibration{thresholdRow: rows[at], Queries: len(all)}
	for i, row := range rows {
		if (i+1)%5 == 0 || i == at {
			best.Table = append(best.Table, row)
		}
	}
	return best
}

// rowAt counts what a threshold finds. Each found skill of a request counts once for the precision.
func rowAt(all []measured, threshold float64) thresholdRow {
	row := thresholdRow{Threshold: threshold}
	wanted := 0
	for _, m := range all {
		wrong := 0
		for _, cosine := range m.others {
			if cosine >= threshold {
				wrong++
			}
		}
		row.Wrong += wrong
		switch {
		case !m.hasSkill && wrong > 0:
			row.FalseAlarms++
		case m.hasSkill:
			wanted++
			if m.right >= threshold {
				row.Found++
			}
		}
	}
	if row.Found > 0 {
		row.Precision = float64(row.Found) / float64(row.Found+row.Wrong)
		row.Recall = float64(row.Found) / float64(wanted)
		row.F1 = 2 * row.Precision * row.Recall / (row.Precision + row.Recall)
	}
	return row
}
