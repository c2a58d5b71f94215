package scenario

import (
	"slices"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// Player is the scripted model: it reads a request and returns the next action. It asks for a skill
// or a doc only if the request does not have its text. So it asks less often if a system keeps texts
// longer. With [Scenario.Again] it also asks for what it has, once for each skill and turn. It is
// not safe for concurrent use.
type Player struct {
	scenario *Scenario
	texts    *Texts
	turn     int
	step     int
	asked    map[*Text]int   // in this step
	used     map[string]bool // the skills that this turn has asked for; only if Again
	// Unmet are the needs whose text did not come, however often it was asked
	// for.
	Unmet []*Text

	ofTurn, ofAll []*Text
}

// maxAsks is how often the player asks for a text before it continues without it.
const maxAsks = 2

// Action is the answer of the scripted model to a request. Exactly one field is set.
type Action struct {
	Need *Need  // calls that load what the request lacks
	Tool *Step  // a call of a tool of the host
	Say  string // the text that ends the turn
}

// Need is a skill or docs that are missing in a request.
type Need struct {
	Skill string
	Body  bool // the body is missing
	Docs  []string
}

// NewPlayer returns a player before the first turn.
func NewPlayer(s *Scenario, texts *Texts) *Player {
	return &Player{scenario: s, texts: texts, turn: -1}
}

// Begin begins a turn.
func (p *Player) Begin(turn int) {
	p.turn, p.step, p.asked, p.ofTurn = turn, 0, nil, nil
	p.used = make(map[string]bool)
}

// Next answers a request.
func (p *Player) Next(messages []prompt.Message) Action {
	if p.turn < 0 || p.turn >= len(p.scenario.Turns) {
		return Action{}
	}
	present := p.Present(messages)
	steps := p.scenario.Turns[p.turn].Steps
	for p.step < len(steps) {
		step := &steps[p.step]
		if step.Need != "" {
			if need := p.missing(step, present); need != nil {
				return Action{Need: need}
			}
			p.meet(step)
			p.step, p.asked = p.step+1, nil
			continue
		}
		p.step++
		if step.Tool != "" {
			return Action{Tool: step}
		}
		p.step = len(steps)
		return Action{Say: step.Say}
	}
	return Action{}
}

// Present returns the texts that messages contain.
func (p *Player) Present(messages []prompt.Message) map[*Text]bool {
	present := make(map[*Text]bool)
	for _, m := range messages {
		for _, s := range p.texts.Find(m.Content) {
			present[s.Text] = true
		}
	}
	return present
}

func (p *Player) missing(step *Step, present map[*Text]bool) *Need {
	if p.asked == nil {
		p.asked = make(map[*Text]int)
	}
	n := Need{Skill: step.Need}
	asksAgain := p.scenario.Again && !p.used[step.Need]
	for _, t := range p.texts.Of(*step) {
		switch {
		case present[t] && !asksAgain:
			continue
		case p.asked[t] >= maxAsks:
			p.Unmet = append(p.Unmet, t)
			present[t] = true // go on without it
			continue
		case t.Doc == "":
			n.Body = true
		default:
			n.Docs = append(n.Docs, t.Doc)
		}
		p.asked[t]++
	}
	if !n.Body && n.Docs == nil {
		return nil
	}
	p.used[step.Need] = true
	return &n
}

func (p *Player) meet(step *Step) {
	for _, t := range p.texts.Of(*step) {
		p.ofTurn = appendNew(p.ofTurn, t)
		p.ofAll = appendNew(p.ofAll, t)
	}
}

// Forget removes the texts of a skill from those that the task has, after the system has unloaded
// it.
func (p *Player) Forget(skill string) {
	of := func(t *Text) bool { return t.Skill == skill }
	p.ofTurn, p.ofAll = slices.DeleteFunc(p.ofTurn, of), slices.DeleteFunc(p.ofAll, of)
}

func appendNew(texts []*Text, t *Text) []*Text {
	if slices.Contains(texts, t) {
		return texts
	}
	return append(texts, t)
}

// Met are the texts that the task has needed and got: in this turn, or since the
// conversation began.
func (p *Player) Met(thisTurn bool) []*Text {
	if thisTurn {
		return p.ofTurn
	}
	return p.ofAll
}
