package skilltools

import (
	"slices"
	"testing"

	"github.com/satchel-go/satchel/core"
)

// TestLoadNamesUnmetNeeds ends the answer with one line, after all others and before the receipt.
func TestLoadNamesUnmetNeeds(t *testing.T) {
	d := newHarness(t, library())
	d.unmet = map[string][]string{"pdf": {"program ffmpeg", "variable API_KEY"}, "docx": {"program ffmpeg", "one of rg, ag"}}
	d.expect("skill_load", `{"skills":["csv","pdf","docx","nope"]}`,
		"loaded: csv\nloaded: pdf\nloaded: docx\nerror: unknown skill \"nope\": use a name from the list of available skills\n"+
			"missing here: program ffmpeg; variable API_KEY; one of rg, ag\n[skill#1 +csv +pdf +docx]")
	var events []string
	for _, e := range d.events {
		if e.Kind == core.SkillNeeds {
			events = append(events, e.Skill+": "+e.Detail)
		}
	}
	if want := []string{"pdf: program ffmpeg; variable API_KEY", "docx: program ffmpeg; one of rg, ag"}; !slices.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
	d.expect("skill_load", `{"skill":"pdf"}`, "already loaded: pdf; its text is above\nmissing here: program ffmpeg; variable API_KEY")
}
