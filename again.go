package satchel

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/answers"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

// loadAgain loads the skill that the call runs, where only its text is left of an
// ended load, before the call is judged: the skill's list judges this very call. It
// returns why the call cannot run, "" if nothing speaks against it.
func (c *Call) loadAgain(ctx context.Context) (refusal string, err error) {
	if c.again != "" || c.operation == nil || !c.operation.LoadsAgain || c.runtime.mode != loadmode.Adaptive {
		return "", nil
	}
	if c.place != nil && !c.place.Changes() {
		return "", nil
	}
	defer c.place.Settle()
	if _, err := c.saving.Wait(ctx, c.place.WaitForChanges); err != nil {
		return "", err
	}
	for err = answers.ErrNumberTaken; errors.Is(err, answers.ErrNumberTaken); {
		err = c.tryLoadAgain(ctx)
	}
	if told := tools.ModelError(""); errors.As(err, &told) {
		return string(told), nil
	}
	return "", err
}

// tryLoadAgain is loadAgain under a number that another call may be given first.
func (c *Call) tryLoadAgain(ctx context.Context) error {
	rec, err := c.saving.Load(ctx)
	if err != nil {
		return err
	}
	number := c.saving.Number(rec, false)
	switch {
	case number.Was.Done: // with its command; Run finds the answer
		return nil
	case number.Was.Answer != "": // it has loaded the skill already
		c.again = number.Was.Answer
		return nil
	}
	s := c.runtime.scope(c.key, c.state)
	s.Record = c.saving.Load
	skill, ok := s.InView(c.place.Sees(rec), c.args.Text("skill"))
	if !ok || c.refusesLoad(ctx, skill.Name) {
		return nil // the call will answer that the skill is not loaded
	}
	c.place.Found(rec)
	s.Number, s.Update = number.Call(), number.Update
	if c.again, err = tools.LoadAgain(ctx, s, skill); err == nil {
		c.again, err = number.End(ctx, c.again)
	}
	if errors.Is(err, answers.ErrNumberTaken) {
		c.saving.Forget()
	}
	return err
}

// refusesLoad reports whether the gate of the host would deny a load of the skill: a
// call that loads it again must not do what skill_load may not.
func (c *Call) refusesLoad(ctx context.Context, skill string) bool {
	if c.runtime.gate == nil {
		return false
	}
	arguments, _ := json.Marshal(map[string]string{"skill": skill}) // strings always marshal
	return c.runtime.gate(ctx, c.key, core.ToolCall{ID: c.call.ID, Name: "skill_load", Arguments: string(arguments)}).Denied
}

// withLoad adds to an answer what the load says that the call has made: as the field
// "loaded" of a JSON object, after any other text.
func (c *Call) withLoad(answer string) string {
	if c.again == "" {
		return answer
	}
	if body, ok := strings.CutSuffix(answer, "}"); ok && len(body) > 1 && json.Valid([]byte(answer)) {
		text, _ := json.Marshal(c.again) // a string always marshals
		return body + `,"loaded":` + string(text) + "}"
	}
	return answer + "\n" + c.again
}
