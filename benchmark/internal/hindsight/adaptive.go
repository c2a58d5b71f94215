package hindsight

import (
	"fmt"

	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// adaptive is load mode adaptive, with the state that its record would hold.
type adaptive struct {
	prices  loadmode.Prices
	caution lifetime.Caution
	returns state.Returns
	inView  []string
}

// Adaptive returns the policy of load mode adaptive at prices. It serves one
// conversation.
func Adaptive(p loadmode.Prices, c lifetime.Caution) Policy {
	a := &adaptive{prices: p, caution: c}
	return a.clear
}

func (a *adaptive) clear(v *View) []bool {
	if v.Turn > 0 {
		t := lifetime.EndedTurn{InView: a.inView, IsQuiet: v.Quiet, Described: v.Conversation.Skills}
		for _, s := range v.Loaded {
			t.Loaded = append(t.Loaded, skillName(s))
		}
		t.Named = skillNames(v.Conversation.Turns[v.Turn-1].Names)
		a.returns = lifetime.Learn(a.returns, t)
	}
	f := lifetime.Facts{Prompt: v.Size(), Turns: v.Turn, Calls: v.Calls, IsCold: v.Cold, Returns: a.returns, Named: skillNames(v.Conversation.Turns[v.Turn].Names)}
	for i, u := range v.Units {
		end := v.Live
		if i+1 < len(v.Units) {
			end = v.Units[i+1].At
		}
		f.Places = append(f.Places, lifetime.Place{
			Piece: lifetime.Piece{Dead: u.Size, Live: end - u.At}, Skills: []string{skillName(u.Skill)}, Carried: u.Carried,
		})
	}
	stays := make([]bool, len(f.Places))
	a.inView = nil
	for i, verdict := range lifetime.ClearBy(a.prices, a.caution, f) {
		if stays[i] = verdict.IsKept; stays[i] {
			a.inView = append(a.inView, skillName(v.Units[i].Skill))
		}
	}
	return stays
}

func skillName(i int) string { return fmt.Sprint("skill-", i) }

func skillNames(skills []int) []string {
	names := make([]string, len(skills))
	for i, s := range skills {
		names[i] = skillName(s)
	}
	return names
}
