// Package lifetime decides when a load ends: with its turn, after one use, with the
// session, or because another load needs the room. It also finds out when a turn
// begins, and when it pays to clear expired content. All of it is a pure function
// of its arguments.
package lifetime

import (
	"slices"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// Advance begins the next user turn of rec. token is the host's token of the turn, and user the
// message that began it.
//
// In modes Turn, Once and Adaptive all loads of the last turn end, except those of permanent skills. In mode Session loads stay,
// with every byte that they show. In all modes the allowed-tools lists of skills that are no
// longer loaded stop applying. Calls of the last turn that were never executed are dropped.
func Advance(rec *state.Record, mode loadmode.Mode, token string, user state.Mark) {
	rec.Turn++
	if rec.Token != "" {
		rec.Tokens = append(rec.Tokens, rec.Token)
		rec.Tokens = rec.Tokens[max(0, len(rec.Tokens)-maxTokens):]
	}
	rec.Token = token
	user.Turn = rec.Turn
	rec.User = user
	rec.Pending, rec.Unnumbered = nil, nil
	rec.Before, rec.OnceCalls = nil, nil
	if mode != loadmode.Session {
		rec.EndLoads()
	}
	rec.EndLists()
}

// Shows reports whether a delivery whose message is in the request shows its content. answered
// reports whether an assistant message follows that message.
func Shows(mode loadmode.Mode, d *state.Delivery, answered bool) bool {
	return mode != loadmode.Once || !answered || d.IsTask
}

// ShowsInFallback is Shows for a delivery whose message is not in the request.
func ShowsInFallback(mode loadmode.Mode, d *state.Delivery) bool {
	return mode != loadmode.Once || !d.Spent
}

// Spend marks all deliveries except a task as answered by the model, and reports whether that
// changed rec. It does nothing unless mode is Once.
func Spend(rec *state.Record, mode loadmode.Mode) bool {
	if mode != loadmode.Once {
		return false
	}
	changed := false
	for i := range rec.Deliveries {
		if d := &rec.Deliveries[i]; !d.Spent && !d.IsTask {
			d.Spent = true
			changed = true
		}
	}
	return changed
}

// UserTurn describes the user turn to which a request belongs.
type UserTurn struct {
	// Begins reports that the request is the first of a turn.
	Begins bool
	// Token is the host's token of the turn, "" for none.
	Token string
	// User marks the newest message that a user wrote.
	User state.Mark
	// Answered reports that a response or a tool result follows that message.
	Answered bool
}

// FindTurn finds out whether a request begins a user turn. If the host has set a token, a new
// token begins a turn. Otherwise a turn begins with the newest user message if no response or
// tool result follows it. That message must also differ from the one of the last turn, unless
// closed reports that the last turn was answered. So neither a retry nor a resumed run begins a
// turn. hash is [state.MarkText], or a function that caches its results.
func FindTurn(rec *state.Record, scan *state.Scan, token string, closed bool, hash func(text string) string) UserTurn {
	t := UserTurn{Token: token, Answered: scan.IsAnswered}
	if scan.Last >= 0 {
		t.User.Hash, t.User.Ordinal = hash(scan.Messages[scan.Last].Text), scan.Ordinal()
	}
	switch {
	case rec.Turn == 0:
		t.Begins = true
	case token != "":
		t.Begins = token != rec.Token && !slices.Contains(rec.Tokens, token)
	case scan.Last < 0 || t.Answered:
	default:
		t.Begins = t.User.Hash != rec.User.Hash || t.User.Ordinal > rec.User.Ordinal || closed
	}
	return t
}

// BeginsAgain reports whether a request begins the turn of rec a second time. It then belongs to
// that turn, but contains no response or result of it. Callers only ask about the first request
// of a run.
func (t UserTurn) BeginsAgain(rec *state.Record) bool {
	return rec.HasChanged() && !t.Begins && !t.Answered && t.User.Hash != "" && t.User.Hash == rec.User.Hash && (t.Token == "" || t.Token == rec.Token)
}

// SpendCall marks the deliveries of one call as answered by the model.
func SpendCall(rec *state.Record, call int) {
	for i := range rec.Deliveries {
		if rec.Deliveries[i].Call == call {
			rec.Deliveries[i].Spent = true
		}
	}
}

// leastRecentlyUsed is the default [loadmode.Victim].
func leastRecentlyUsed(candidates []loadmode.Candidate) string {
	return slices.MinFunc(candidates, func(a, b loadmode.Candidate) int { return a.Used - b.Used }).Skill
}

// Evict unloads skills until at most limit are loaded, and returns their names in order. It never
// unloads a skill in keep or a permanent one, and permanent skills do not count. A limit below 1
// means no limit. If choose is nil, it unloads the least recently used skill. The texts of the skills leave the request.
func Evict(rec *state.Record, limit int, keep []string, choose loadmode.Victim) (evicted []string) {
	evicted = EndLoads(rec, limit, keep, choose)
	for _, name := range evicted {
		rec.Remove(name)
	}
	return evicted
}

// EndLoads is Evict, but the texts of the skills stay in view, like those of other ended loads,
// until clearing them pays.
func EndLoads(rec *state.Record, limit int, keep []string, choose loadmode.Victim) (evicted []string) {
	for limit > 0 && rec.Capped() > limit {
		name := victim(rec, keep, choose)
		if name == "" {
			break
		}
		rec.EndLoad(name)
		evicted = append(evicted, name)
	}
	return evicted
}

// EvictOne unloads one skill as [Evict] does, and returns its name, or "" if none can be unloaded.
func EvictOne(rec *state.Record, keep []string, choose loadmode.Victim) string {
	name := victim(rec, keep, choose)
	if name != "" {
		rec.EndLoad(name)
		rec.Remove(name)
	}
	return name
}

// victim returns the skill to unload next, or "" if none can be unloaded.
func victim(rec *state.Record, keep []string, choose loadmode.Victim) string {
	var candidates []loadmode.Candidate
	for _, a := range rec.Active {
		if !slices.Contains(keep, a.Skill) && !rec.IsPermanent(a.Skill) {
			candidates = append(candidates, loadmode.Candidate{Skill: a.Skill, Used: a.Used, Loaded: a.Loaded})
		}
	}
	if len(candidates) == 0 {
		return ""
	}
	if choose != nil {
		chosen := choose(slices.Clone(candidates))
		if slices.ContainsFunc(candidates, func(a loadmode.Candidate) bool { return a.Skill == chosen }) {
			return chosen
		}
	}
	return leastRecentlyUsed(candidates)
}
