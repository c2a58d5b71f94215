package call

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/view"
	"github.com/satchel-go/satchel/permission"
)

// maxNamed bounds how many tools one sentence of an answer names.
const maxNamed = 40

// Restricted writes a line for the answer to a load: which tools the lists of a record
// allow, which they take away, and which listed tools do not exist. It returns "" where
// lists take nothing away.
func (b *Bounds) Restricted(state *view.State, rec *state.Record) string {
	lists := b.lists(rec, "")
	if len(lists) == 0 || !b.Judge.Policy.Restricts() {
		return ""
	}
	judge := b.judging(state)
	line := "tools allowed now: "
	if b.Asks && !slices.ContainsFunc(lists, func(l judging.List) bool { return !l.Repaired }) {
		line = "tools allowed now, each after a question: "
	}
	line += judge.Allowed(lists)
	var gone, asked []string
	for _, name := range b.toolsOf(state) {
		switch tool := b.Tool(name); {
		case judge.Names(tool, lists) || slices.Contains(gone, name) || slices.Contains(asked, name):
		case b.Asks && judge.Lapses(tool, lists):
			asked = append(asked, name)
		default:
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		line += "; not available " + judge.Until(lists) + ": " + atMost(gone)
	}
	if len(asked) > 0 {
		line += "; after a question until the user's next message: " + atMost(asked)
	}
	if vain := b.unusable(state, lists); vain != "" {
		line += "\n" + vain
	}
	return line
}

// unusable says which listed tools the agent does not have, and which names no tool is
// known by. Before the agent's first request its tools are not known, so it says only
// the latter.
func (b *Bounds) unusable(state *view.State, lists []judging.List) string {
	var tools []permission.Tool
	offered := state.Offered()
	for _, name := range offered {
		tools = append(tools, b.Tool(name))
	}
	var absent, unknown []string
	for _, l := range lists {
		a, u := b.Names.Missing(l.Rules, tools)
		absent, unknown = append(absent, a...), append(unknown, u...)
	}
	slices.Sort(absent)
	slices.Sort(unknown)
	var parts []string
	if absent = slices.Compact(absent); len(absent) > 0 && len(offered) > 0 {
		parts = append(parts, "listed, but you have no such tool: "+atMost(absent))
	}
	if unknown = slices.Compact(unknown); len(unknown) > 0 {
		parts = append(parts, "listed, but no known tool has this name: "+atMost(unknown))
	}
	return strings.Join(parts, "; ")
}

// atMost joins names. Of too many it says how many it leaves out.
func atMost(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed:maxNamed], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// WarnUnmapped logs the tools that lists ignore unless they name them, because nothing
// says what kind of tool they are. It does so once for each name of an agent.
func (b *Bounds) WarnUnmapped(ctx context.Context, key core.SessionKey, tools []string) {
	if !b.Judge.Policy.Restricts() || b.Judge.Policy == permission.RestrictAll {
		return
	}
	if _, known := b.warned.LoadOrStore(key.Agent, true); known {
		return
	}
	if unmapped := slices.DeleteFunc(b.Names.Unmapped(tools), b.Set.Has); len(unmapped) > 0 {
		b.Log.WarnContext(ctx, "lists of allowed tools do not speak of these tools unless they name them: say what they are with satchel.Permissions.HostTools",
			"agent", key.Agent, "tools", atMost(unmapped))
	}
}
