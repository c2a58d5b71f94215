package call

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/tools"
)

// LoadAgain loads the skill that the call runs, where only its text is left of an ended
// load, unless refuses says no to it. scope is that of the call's agent. Made again it does
// nothing.
func (s *Saving) LoadAgain(ctx context.Context, scope *tools.Scope, name string, refuses func(skill string) bool) (err error) {
	if s.again != "" {
		return nil
	}
	scope.State = loaded{scope.State, s}
	s.again, err = s.Numbered(ctx, false, func(rec *state.Record, n *Number) (string, error) {
		switch {
		case n.Was.Done: // with its command, whose answer is found when it is run
			return "", nil
		case n.Was.Answer != "": // it has loaded the skill already
			return n.Was.Answer, nil
		}
		skill, ok := scope.InView(ctx, s.Place.Sees(rec), name)
		if !ok || refuses(skill.Name) {
			return "", nil // the call will answer that the skill is not loaded
		}
		s.Place.Found(rec)
		n.Scope(scope)
		text, err := tools.LoadAgain(ctx, scope, skill)
		if err != nil {
			return "", err
		}
		return n.End(ctx, text)
	})
	return err
}

// LoadOf is the call by which the model itself would load a skill that another call loads
// again.
func LoadOf(call core.ToolCall, skill string) core.ToolCall {
	arguments, _ := json.Marshal(map[string]string{"skill": skill}) // strings always marshal
	return core.ToolCall{ID: call.ID, Name: "skill_load", Arguments: string(arguments)}
}

// WithLoad adds to an answer what LoadAgain has loaded, if anything: as the field "loaded"
// of a JSON object, after any other text.
func (s *Saving) WithLoad(answer string) string {
	if s.again == "" {
		return answer
	}
	if body, ok := strings.CutSuffix(answer, "}"); ok && len(body) > 1 && json.Valid([]byte(answer)) {
		text, _ := json.Marshal(s.again) // a string always marshals
		return body + `,"loaded":` + string(text) + "}"
	}
	return answer + "\n" + s.again
}
