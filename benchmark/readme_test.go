package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/benchmark/internal/measure"
)

// titles are the systems as the tables of README.md call them.
var titles = map[string][2]string{
	"Satchel, default":              {"satchel", "adaptive/tool-result"},
	"Satchel, turn":                 {"satchel", "turn/tool-result"},
	"Satchel, policy":               {"satchel", "turn+policy/tool-result"},
	"Satchel, session":              {"satchel", "session/tool-result"},
	"Eino v0.7.36, file tools":      {"eino-skill", "v0.7.36+filesystem"},
	"Eino v0.7.36, smallest reader": {"eino-skill", "v0.7.36+reader"},
	"full injection":                {"full-injection", "system"},
	"trpc-agent-go, best of four":   {"trpc-agent-go", ""},
}

// Every cost in README.md is what the program prints.
func TestReadmeFigures(t *testing.T) {
	t.Run("own", func(t *testing.T) { readmeFigures(t, measured(t, own(t)), 5*7) })
	t.Run("corpus", func(t *testing.T) { readmeFigures(t, measured(t, corpus(t)), 3*8) })
}

func readmeFigures(t *testing.T, all []*measure.Conversation, least int) {
	t.Helper()
	names := map[string]bool{}
	for _, m := range all {
		names[m.Scenario] = true
	}
	checked := 0
	var head []string
	for line := range strings.Lines(read(t, "README.md")) {
		cells := cellsOf(line)
		if len(cells) == 0 {
			head = nil
			continue
		}
		if head == nil {
			head = cells
			continue
		}
		for i := 1; i < min(len(cells), len(head)); i++ {
			scenario, title := head[i], cells[0]
			if _, ok := titles[title]; !ok {
				scenario, title = title, scenario
			}
			if _, ok := titles[title]; !ok || !names[scenario] {
				continue
			}
			if want := printed(all, scenario, titles[title]); cells[i] != want {
				t.Errorf("README.md says that %s costs %s in %s, the program %s", title, cells[i], scenario, want)
			}
			checked++
		}
	}
	if checked < least {
		t.Errorf("only %d figures are checked", checked)
	}
}

// cellsOf are the cells of a row of a table, without what marks them up.
func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.NewReplacer("*", "", "`", "").Replace(strings.TrimSpace(cells[i]))
	}
	return cells
}

// printed are the costs of a system at the prices of the promises, of any variant
// the lowest.
func printed(all []*measure.Conversation, scenario string, system [2]string) string {
	var costs []string
	for _, price := range promised {
		lowest := -1.0
		for _, m := range all {
			if m.Scenario == scenario && m.System == system[0] && (system[1] == "" || m.Variant == system[1]) {
				if ite := m.At(price).ITE; lowest < 0 || ite < lowest {
					lowest = ite
				}
			}
		}
		costs = append(costs, thousands(fmt.Sprintf("%.0f", lowest)))
	}
	return strings.Join(costs, " / ")
}

func thousands(n string) string {
	if len(n) <= 3 {
		return n
	}
	return thousands(n[:len(n)-3]) + "," + n[len(n)-3:]
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What the texts say beside the tables.
func TestFiguresInTexts(t *testing.T) {
	mine := measured(t, own(t))
	ratio := find(t, mine, "log-search", "satchel", "turn/tool-result")
	says(t, "README.md", fmt.Sprintf("%.2f and %.2f of the bound", ratio.At("prefix-1").Ratio, ratio.At("prefix-1.25").Ratio))
	all := measured(t, corpus(t))
	for _, s := range []struct{ scenario, form string }{
		{"many-turns", "costs %.1f %% less than without a policy where writing costs 1, and %.1f %% less where it costs 1.25"},
		{"skill-switching", "costs %.1f %% and %.1f %% more"},
	} {
		var percent []any
		for _, price := range promised {
			change := find(t, all, s.scenario, "satchel", "turn+policy/tool-result").At(price).ITE/find(t, all, s.scenario, "satchel", "turn/tool-result").At(price).ITE - 1
			percent = append(percent, 100*max(change, -change))
		}
		says(t, "experiments.md", fmt.Sprintf(s.form, percent...))
	}
	for _, m := range append(mine, all...) {
		session := find(t, append(mine, all...), m.Scenario, "satchel", "session/tool-result")
		for _, price := range promised {
			if m.System == "eino-skill" && session.At(price).ITE >= m.At(price).ITE {
				t.Errorf("%s at %s: session costs %.0f, Eino %s %.0f", m.Scenario, price, session.At(price).ITE, m.Variant, m.At(price).ITE)
			}
		}
	}
}

var space = regexp.MustCompile(`(?m)\s+(// )?`)

func says(t *testing.T, file, text string) {
	t.Helper()
	if !strings.Contains(space.ReplaceAllString(read(t, file), " "), text) {
		t.Errorf("%s does not say %q", file, text)
	}
}
