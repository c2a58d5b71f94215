package steps

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/processors"
)

// causeOf explains why a request continues with now instead of was. The two differ
// in their first message; now may be empty.
func causeOf(was []link, now []core.Message, before, rec *state.Record) processors.Cause {
	switch {
	case was[0].ours || len(now) > 0 && now[0].Origin == core.Inserted:
		// A message of Satchel's is no cause where the host's next one is another,
		// too: it came or went with that.
		if !sameHost(was, now) {
			return processors.CauseHost
		}
		if isFallback(was[0].ours, was[0].text) || len(now) > 0 && isFallback(now[0].Origin == core.Inserted, now[0].Text) {
			return processors.CauseFallback
		}
	case len(now) == 0 || !was[0].own(&now[0]):
		return processors.CauseHost
	}
	switch {
	case before == nil || rec == nil:
		return processors.CauseUnknown
	case before.Overview != rec.Overview:
		return processors.CauseOverview
	case slices.EqualFunc(before.Deliveries, rec.Deliveries, equalDelivery):
		return processors.CauseUnknown
	case was[0].role == core.System:
		return processors.CauseSystem
	case before.Turn != rec.Turn:
		return processors.CauseTurn
	}
	return processors.CauseUnload
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
