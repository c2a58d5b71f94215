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
	"github.com/satchel-go/satchel/internal/engine/callctx"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/processors"
)

// Reporter sends events to the host's hook and to the log. Its exported fields are not changed
// after its first use.
type Reporter struct {
	// Hook is the host's function for events, nil for none.
	Hook   func(context.Context, core.Event)
	Log    *slog.Logger
	Agents *state.Agents
	// Traces reports that a tracer gets the events.
	Traces bool
	// HasLifecycle reports that the hook also gets an event for every skill of the catalog.
	HasLifecycle bool
	// Breaks are the host's functions for breaks of the prefix. WarnsOfBreaks says that the log gets
	// a warning of each.
	Breaks        []func(processors.PrefixBreak)
	WarnsOfBreaks bool

	scanned atomic.Pointer[catalog.Snapshot]
	unseen  [2]atomic.Bool // logged for the whole catalog, and for an audience
	mu      sync.Mutex
	cuts    map[processors.Fit]bool // that the log has
}

// Emit sends an event to the hook and to the log. It logs denials at Info and all other events at
// Debug.
func (t *Reporter) Emit(ctx context.Context, e core.Event) {
	if e.Kind == core.SkillActivated && e.Detail == "" {
		e.Detail = t.Agents.Of(e.Key).FoundBy(e.Skill)
	}
	if f := callctx.ForkOf(ctx); f != nil {
		e.Fork, e.Turn = f.Skill, f.Turn
		if e.Kind == core.ModelCalled {
			f.Add(e.Usage)
		}
	}
	if t.Hook != nil {
		e.Phase = e.Kind.Phase()
		if e.Time.IsZero() {
			e.Time = time.Now()
		}
		if e.Turn == 0 {
			e.Turn = t.Agents.TurnOf(e.Key)
		}
		if t.Traces {
			e.ModelCall, e.IsSubagent = t.Agents.LastCall(e.Key)
		}
		t.Hook(ctx, e)
	}
	level := slog.LevelDebug
	if e.Kind == core.ToolDenied {
		level = slog.LevelInfo
	}
	if t.Log.Enabled(ctx, level) {
		attrs := []slog.Attr{slog.String("session", e.Key.Session), slog.String("agent", e.Key.Agent)}
		for _, a := range [][2]string{{"skill", e.Skill}, {"tool", e.Call.Name}, {"fork", e.Fork}, {"rule", e.Rule}, {"detail", e.Detail}} {
			if a[1] != "" {
				attrs = append(attrs, slog.String(a[0], a[1]))
			}
		}
		t.Log.LogAttrs(ctx, level, string(e.Kind), attrs...)
	}
}

// EmitAll sends events of the agent of key.
func (t *Reporter) EmitAll(ctx context.Context, key core.SessionKey, events []core.Event) {
	for _, e := range events {
		e.Key = key
		t.Emit(ctx, e)
	}
}

// ReportScan reports the size of a catalog, once for each snapshot.
func (t *Reporter) ReportScan(ctx context.Context, snapshot *catalog.Snapshot) {
	if t.scanned.Swap(snapshot) == snapshot || t.Hook == nil {
		return
	}
	t.Emit(ctx, core.Event{Kind: core.CatalogScanned, Detail: fmt.Sprintf("%d skills, %d diagnostics", snapshot.Len(), len(snapshot.Diagnostics()))})
	if !t.HasLifecycle {
		return
	}
	for _, kind := range []core.EventKind{core.SkillDiscovered, core.SkillRegistered} {
		for _, skill := range snapshot.Skills() {
			t.Emit(ctx, core.Event{Kind: kind, Skill: skill.Name, Detail: skill.Location})
		}
	}
}

// ReportCut reports how many skills an overview shortens or leaves out.
func (t *Reporter) ReportCut(fit processors.Fit) {
	if fit.IsWhole() {
		return
	}
	ctx := context.Background()
	if t.isNew(fit) {
		t.Log.WarnContext(ctx, "the overview does not show every skill whole", "shortened", fit.Shortened, "by_name_only", fit.Bare, "missing", fit.Missing,
			"todo", "put the important ones first with Overview.Pinned, or raise Overview.Tokens")
	}
	t.Emit(ctx, core.Event{Kind: core.OverviewCut, Detail: fit.String()})
}

// CodeUnseen is the code of the log line about a catalog without visible skills.
const CodeUnseen = "no-skill-visible"

// ReportUnseen logs once that models see no skill: either the catalog hides all, or an audience
// allows none. isFull says that the overview was for the whole catalog.
func (t *Reporter) ReportUnseen(isFull bool, snapshot *catalog.Snapshot) {
	text, todo, at := "the model sees no skill: all are hidden from it", "give one a description, or let the model invoke it", 0
	visible := len(snapshot.Visible())
	if !isFull {
		text, todo, at = "the model sees no skill: an audience allows none, or all lack something", "check the function of WithAudience, and Overview.Needs", 1
	}
	if snapshot.Len() == 0 || isFull != (visible == 0) || t.unseen[at].Swap(true) {
		return
	}
	t.Log.Warn(text, "skills", snapshot.Len(), "code", CodeUnseen, "todo", todo)
}

// isNew reports whether this cut was not logged yet, and remembers it.
func (t *Reporter) isNew(fit processors.Fit) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cuts[fit] {
		return false
	}
	if t.cuts == nil || len(t.cuts) >= maxCutWarnings {
		t.cuts = map[processors.Fit]bool{}
	}
	t.cuts[fit] = true
	return true
}

// ReportBreak reports that the prefix of an agent's request broke.
func (t *Reporter) ReportBreak(ctx context.Context, key core.SessionKey, found processors.PrefixBreak) {
	level := slog.LevelDebug
	if t.WarnsOfBreaks {
		level = slog.LevelWarn
	}
	t.Log.LogAttrs(ctx, level, "the prefix of a request broke",
		slog.String("session", key.Session), slog.String("agent", key.Agent), slog.String("cause", string(found.Cause)),
		slog.String("block", found.Block()), slog.Int("tokens", found.Tokens))
	t.Emit(ctx, core.Event{
		Kind: core.PrefixBroken, Key: key, Detail: found.String(), Message: found.Message, Cause: string(found.Cause), Tokens: found.Tokens,
	})
	for _, report := range t.Breaks {
		if report != nil {
			report(found)
		}
	}
}

// ReportSweep reports a workspace that was removed because it was idle.
func (t *Reporter) ReportSweep(s workspace.Removal) {
	detail := "idle"
	if s.Err != nil {
		detail += ": " + s.Err.Error()
	}
	t.Emit(context.Background(), core.Event{Kind: core.WorkspaceCleanup, Key: core.SessionKey{Session: s.Session}, Duration: s.Took, Detail: detail})
}
