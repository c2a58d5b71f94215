package view

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/processors"
)

// Reporter reports to a host what happens. Its exported fields are not changed once it is used.
type Reporter struct {
	// Hook is the host's, nil for none.
	Hook   func(context.Context, core.Event)
	Log    *slog.Logger
	Agents *state.Agents
	// Lifecycle tells of every skill of the catalog too.
	Lifecycle bool
	// Breaks are the host's functions for breaks of the prefix.
	Breaks []func(processors.PrefixBreak)

	scanned atomic.Pointer[catalog.Snapshot]
	unseen  [2]atomic.Bool // that the log has: of the whole catalog, and of an audience
	mu      sync.Mutex
	cuts    map[processors.Fit]bool // that the log has
}

// Emit reports an event to the hook and to the log: denials at Info, all else at Debug.
func (t *Reporter) Emit(ctx context.Context, e core.Event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if e.Turn == 0 {
		e.Turn = t.Agents.TurnOf(e.Key)
	}
	if e.Kind == core.SkillActivated && e.Detail == "" {
		e.Detail = t.Agents.Of(e.Key).FoundBy(e.Skill)
	}
	e.Phase = e.Kind.Phase()
	if t.Hook != nil {
		t.Hook(ctx, e)
	}
	level := slog.LevelDebug
	if e.Kind == core.ToolDenied {
		level = slog.LevelInfo
	}
	if t.Log.Enabled(ctx, level) {
		t.Log.LogAttrs(ctx, level, string(e.Kind),
			slog.String("session", e.Key.Session), slog.String("agent", e.Key.Agent),
			slog.String("skill", e.Skill), slog.String("tool", e.Call.Name), slog.String("rule", e.Rule), slog.String("detail", e.Detail))
	}
}

// EmitAll reports events of the agent of key.
func (t *Reporter) EmitAll(ctx context.Context, key core.SessionKey, events []core.Event) {
	for _, e := range events {
		e.Key = key
		t.Emit(ctx, e)
	}
}

// Scanned reports what the catalog holds, once for each snapshot.
func (t *Reporter) Scanned(ctx context.Context, snapshot *catalog.Snapshot) {
	if t.scanned.Swap(snapshot) == snapshot || t.Hook == nil {
		return
	}
	t.Emit(ctx, core.Event{Kind: core.CatalogScanned, Detail: fmt.Sprintf("%d skills, %d diagnostics", snapshot.Len(), len(snapshot.Diagnostics()))})
	if !t.Lifecycle {
		return
	}
	for _, kind := range []core.EventKind{core.SkillDiscovered, core.SkillRegistered} {
		for _, skill := range snapshot.Skills() {
			t.Emit(ctx, core.Event{Kind: kind, Skill: skill.Name, Detail: skill.Location})
		}
	}
}

// Cut reports what the overview leaves out.
func (t *Reporter) Cut(fit processors.Fit) {
	if fit.IsWhole() {
		return
	}
	ctx := context.Background()
	if t.isNew(fit) {
		t.Log.WarnContext(ctx, "the overview does not show every skill whole", "shortened", fit.Shortened, "by_name_only", fit.Bare, "missing", fit.Missing)
	}
	t.Emit(ctx, core.Event{Kind: core.OverviewCut, Detail: fit.String()})
}

// CodeUnseen is the code of the log line about a catalog of which models see nothing.
const CodeUnseen = "no-skill-visible"

// Unseen reports, once, that models see none of the skills of a catalog: all are hidden
// from them or, if it is not the whole catalog, an audience allows none.
func (t *Reporter) Unseen(whole bool, snapshot *catalog.Snapshot) {
	text, at := "the model sees no skill: all are hidden from it", 0
	visible := len(snapshot.Visible())
	if !whole {
		text, at = "the model sees no skill: an audience allows none", 1
	}
	if snapshot.Len() == 0 || whole != (visible == 0) || t.unseen[at].Swap(true) {
		return
	}
	t.Log.Warn(text, "skills", snapshot.Len(), "code", CodeUnseen)
}

// isNew reports whether the log has not been told this of an overview yet.
func (t *Reporter) isNew(fit processors.Fit) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cuts[fit] {
		return false
	}
	if t.cuts == nil || len(t.cuts) >= maxCuts {
		t.cuts = map[processors.Fit]bool{}
	}
	t.cuts[fit] = true
	return true
}

// Broken reports that the prefix of an agent's request broke.
func (t *Reporter) Broken(ctx context.Context, key core.SessionKey, found processors.PrefixBreak) {
	t.Log.LogAttrs(ctx, slog.LevelWarn, "the prefix of a request broke",
		slog.String("session", key.Session), slog.String("agent", key.Agent), slog.String("cause", string(found.Cause)),
		slog.String("block", found.Block()), slog.Int("tokens", found.Tokens))
	t.Emit(ctx, core.Event{Kind: core.PrefixBroken, Key: key, Detail: found.String()})
	for _, report := range t.Breaks {
		if report != nil {
			report(found)
		}
	}
}

// Swept reports a workspace that was removed because it was unused for long.
func (t *Reporter) Swept(s workspace.Removal) {
	detail := "idle"
	if s.Err != nil {
		detail += ": " + s.Err.Error()
	}
	t.Emit(context.Background(), core.Event{Kind: core.WorkspaceCleanup, Key: core.SessionKey{Session: s.Session}, Duration: s.Took, Detail: detail})
}
