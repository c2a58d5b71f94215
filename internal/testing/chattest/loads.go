package chattest

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// Loads holds the saves of a session whose agent loads three skills, one in each response.
// Benchmarks of stores repeat them.
type Loads struct {
	records []*state.Record
	last    session.Value
	texts   []string
}

// ThreeLoads plays such a session with a runtime.
func ThreeLoads(t testing.TB) *Loads {
	t.Helper()
	files := fstest.MapFS{}
	names := []string{"pdf-forms", "spreadsheets", "release-notes", "log-triage", "commit-style", "http-api"}
	for _, name := range names {
		body := fmt.Sprintf("---\nname: %s\ndescription: Knows what to do about %s.\n---\n%s", name, name, strings.Repeat("Do "+name+" well.\n", 200))
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(body)}
	}
	store := &recorder{Memory: session.NewMemory()}
	c := NewChat(t, Open(t, files, satchel.WithStore(store))).Say(core.User, "I need a report of last night.")
	for _, name := range names[:3] {
		c.Calls(`skill_load {"skill":"` + name + `"}`)
	}
	return &store.Loads
}

// recorder is a store that records saves and pins.
type recorder struct {
	*session.Memory
	Loads
}

// Save implements session.Store.
func (s *recorder) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	saved, err := s.Memory.Save(ctx, key, v)
	if err != nil {
		return saved, err
	}
	rec, err := state.NewRecords(s.Memory).Load(ctx, key)
	s.records, s.last = append(s.records, rec), saved
	return saved, err
}

// Pin implements session.Store.
func (s *recorder) Pin(ctx context.Context, id, digest, text string) error {
	if !strings.HasPrefix(id, session.ReservedPrefix) {
		s.texts = append(s.texts, text)
	}
	return s.Memory.Pin(ctx, id, digest, text)
}

// Texts returns how many texts the session pins.
func (l *Loads) Texts() int { return len(l.texts) }

// Last returns the data at the end of the session, as a value that was never saved.
func (l *Loads) Last() session.Value { return session.Value{Data: l.last.Data} }

// ReportMedians reports the medians of the measured operation and of a bare command of the server,
// in microseconds, and their ratio.
func ReportMedians(b *testing.B, measured, bare []time.Duration) {
	b.Helper()
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2]) / float64(time.Microsecond)
	}
	b.ReportMetric(0, "ns/op") // omits ns/op, which would measure both together
	b.ReportMetric(median(measured), "p50-µs")
	b.ReportMetric(median(bare), "bare-µs")
	b.ReportMetric(median(measured)/median(bare), "times")
}

// Repeat repeats the pins and saves in a store, for a new session with other ids of calls. It
// returns the number of saves.
func (l *Loads) Repeat(ctx context.Context, s session.Store) (saves int, err error) {
	id := rand.Text()
	for _, text := range l.texts {
		if err := s.Pin(ctx, id, session.Digest(text), text); err != nil {
			return 0, err
		}
	}
	records := state.NewRecords(s)
	for i, rec := range l.records {
		next := rec.Clone()
		next.Key.Session, next.Version = id, int64(i)
		for i := range next.Pending {
			next.Pending[i].From.ID = "call_" + rand.Text()
		}
		if _, err := records.Save(ctx, next); err != nil {
			return 0, err
		}
	}
	return len(l.records), nil
}
