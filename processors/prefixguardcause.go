package processors

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// Cause says why a request does not begin with the one before it.
type Cause string

// The causes. The default view promises that only the first two occur.
const (
	CauseTurn     Cause = "turn"     // a turn began and the content of the last was cleared
	CauseUnload   Cause = "unload"   // content was unloaded, evicted, replaced or deselected, or has had its one showing
	CauseSystem   Cause = "system"   // the system message holds content that has changed
	CauseFallback Cause = "fallback" // the message of content without a place came, went or changed
	CauseOverview Cause = "overview" // the overview was written anew
	CauseTools    Cause = "tools"    // the host added, removed, moved or changed a tool
	CauseHost     Cause = "host"     // the host changed, removed or inserted a message of its own
	CauseUnknown  Cause = "unknown"  // text of Satchel's changed and nothing says why: report it
)

// causeOf explains why a request continues with now instead of was. The two differ
// in their first message; now may be empty.
func causeOf(was []link, now []core.Message, before, rec *state.Record) Cause {
	switch {
	case was[0].ours || len(now) > 0 && now[0].Origin == core.Inserted:
		// A message of Satchel's is no cause where the host's next one is another,
		// too: it came or went with that.
		if !sameHost(was, now) {
			return CauseHost
		}
		if isFallback(was[0].ours, was[0].text) || len(now) > 0 && isFallback(now[0].Origin == core.Inserted, now[0].Text) {
			return CauseFallback
		}
	case len(now) == 0 || !was[0].own(&now[0]):
		return CauseHost
	}
	switch {
	case before == nil || rec == nil:
		return CauseUnknown
	case before.Overview != rec.Overview:
		return CauseOverview
	case slices.EqualFunc(before.Deliveries, rec.Deliveries, equalDelivery):
		return CauseUnknown
	case was[0].role == core.System:
		return CauseSystem
	case before.Turn != rec.Turn:
		return CauseTurn
	}
	return CauseUnload
}

// sameHost reports whether both lists begin with the same message of the host.
func sameHost(was []link, now []core.Message) bool {
	old := slices.IndexFunc(was, func(l link) bool { return !l.ours })
	if old < 0 {
		return true // the host has only added
	}
	i := slices.IndexFunc(now, func(m core.Message) bool { return m.Origin != core.Inserted })
	return i >= 0 && was[old].own(&now[i])
}

func isFallback(ours bool, text string) bool {
	return ours && strings.HasPrefix(text, FallbackHeading)
}

func equalDelivery(a, b state.Delivery) bool {
	return a.Call == b.Call && a.Skill == b.Skill && a.Digest == b.Digest && a.Body == b.Body &&
		a.Old == b.Old && a.Spent == b.Spent && slices.Equal(a.Docs, b.Docs)
}
