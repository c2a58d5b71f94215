package eval_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/eval"
)

// Count how often your own agent loads a skill. Its runtime reports loads to the function of
// satchel.WithEvents: events of kind core.SkillLoaded with By "model".
func ExampleRun_trigger() {
	ctx := context.Background()
	skills := openExample()
	defer skills.Close()
	suite, err := eval.OfSkills(ctx, skills)
	if err != nil {
		fmt.Println(err)
		return
	}
	// snippet: play
	play := func(ctx context.Context, trial eval.Trial) (played eval.Played, err error) {
		events, err := converse(ctx, trial.Name(), trial.Prompt())
		for _, e := range events {
			switch {
			case e.Kind == core.SkillLoaded && e.By == "model":
				played.Loaded = append(played.Loaded, e.Skill)
			case e.Kind == core.ModelCalled:
				played.Requests++
				played.Usage.Prompt += e.Usage.Prompt
			}
		}
		return played, err
	}
	report, err := eval.Run(ctx, suite, eval.Options{Mode: eval.Trigger, Catalog: skills, Runs: 5, Jobs: 2, Play: play})
	// end snippet
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range report.Queries {
		fmt.Printf("%q: %d of %d, pass %v\n", q.Query, q.Triggered, q.Runs, q.Pass)
	}
	pdf := report.Skills[0]
	fmt.Printf("%s triggers in %.0f %% (%.0f to %.0f)\n", pdf.Skill, 100**pdf.Trigger.Rate, 100**pdf.Trigger.Low, 100**pdf.Trigger.High)
	// Output:
	// "fill in this form with my address": 5 of 5, pass true
	// "sign my lease": 0 of 5, pass false
	// "write a letter to my landlord": 0 of 5, pass true
	// pdf triggers in 50 % (24 to 76)
}

// converse stands for a conversation of an agent, and returns its events.
func converse(_ context.Context, _, prompt string) ([]core.Event, error) {
	events := []core.Event{{Kind: core.ModelCalled, Usage: core.Usage{Prompt: 1000}}}
	if strings.Contains(prompt, "form") {
		events = append(events, core.Event{Kind: core.SkillLoaded, Skill: "pdf", By: "model"}, events[0])
	}
	return events, nil
}
