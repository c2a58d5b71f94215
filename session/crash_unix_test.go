//go:build unix

package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/crashtest"
	"github.com/satchel-go/satchel/session"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, map[string]func(dir string) error{"crash": writeForever, "count": countUp})
}

var crashKey = core.SessionKey{Session: "crash", Agent: "main"}

// text is what version v of the value pins.
func text(v int64) string { return strings.Repeat(fmt.Sprintln("text", v), 500) }

// countOnce saves key once more: its data are the text that its version pins.
func countOnce(ctx context.Context, d *session.Directory, key core.SessionKey) (session.Value, error) {
	for {
		v, err := d.Load(ctx, key)
		if err != nil {
			return v, err
		}
		next := text(v.Version + 1)
		if err := d.Pin(ctx, key.Session, session.Digest(next), next); err != nil {
			return v, err
		}
		v.Data, v.Pins = []byte(next), []string{session.Digest(next)}
		if v, err = d.Save(ctx, key, v); !errors.Is(err, session.ErrConflict) {
			return v, err
		}
	}
}

// writeForever prints what was acknowledged, one line each, until it is killed.
func writeForever(dir string) error {
	d, err := session.OpenDirectory(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	ctx := context.Background()
	for {
		rec, err := countOnce(ctx, d, crashKey)
		if err != nil {
			return err
		}
		fmt.Println("saved", rec.Version)
		id := fmt.Sprint("short ", rec.Version)
		for _, agent := range []string{"a", "b"} {
			if _, err := countOnce(ctx, d, core.SessionKey{Session: id, Agent: agent}); err != nil {
				return err
			}
		}
		fmt.Println("whole", rec.Version)
		if err := d.End(ctx, id); err != nil {
			return err
		}
		fmt.Println("ended", rec.Version)
	}
}

// TestDirectoryCrash kills a writer at random moments and checks that nothing
// acknowledged is lost and nothing half-written is seen.
func TestDirectoryCrash(t *testing.T) {
	const rounds = 80
	dir := t.TempDir()
	var last int64
	for round := range rounds {
		acked := acknowledged{saved: last, ended: map[int64]bool{}}
		crashtest.Start(t, "crash", dir).KillWithin(t, 40*time.Millisecond, func(line string) {
			var what string
			var version int64
			if _, err := fmt.Sscan(line, &what, &version); err != nil {
				t.Fatalf("child says %q: %v", line, err)
			}
			acked.note(what, version)
		})
		last = checkCrashed(t, dir, acked)
		if t.Failed() {
			t.Fatalf("round %d: acknowledged %+v", round, acked)
		}
	}
	if last < rounds {
		t.Errorf("only %d saves in %d rounds", last, rounds)
	}
}

// acknowledged is what a child said before it was killed.
type acknowledged struct {
	saved int64
	// ended holds the short sessions that were written completely. The value is true once
	// the session has ended.
	ended map[int64]bool
}

func (a *acknowledged) note(what string, version int64) {
	switch what {
	case "saved":
		a.saved = version
	case "whole":
		a.ended[version] = false
	case "ended":
		a.ended[version] = true
	}
}

// checkCrashed compares a store with what a killed child acknowledged last, and
// returns the version of the value.
func checkCrashed(t *testing.T, dir string, acked acknowledged) int64 {
	t.Helper()
	d, err := session.OpenDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rec, err := d.Load(t.Context(), crashKey)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Version < acked.saved || rec.Version > acked.saved+1 {
		t.Errorf("version %d after %d was acknowledged", rec.Version, acked.saved)
	}
	if rec.Version > 0 && string(rec.Data) != text(rec.Version) {
		t.Errorf("version %d is half written: %.20q", rec.Version, rec.Data)
	}
	for v := max(1, rec.Version-20); v <= rec.Version; v++ {
		if got, err := d.Pinned(t.Context(), crashKey.Session, session.Digest(text(v))); err != nil || got != text(v) {
			t.Errorf("pin of version %d: %d bytes, %v", v, len(got), err)
		}
	}
	for v, ended := range acked.ended {
		agents, err := d.Agents(t.Context(), fmt.Sprint("short ", v))
		if err != nil {
			t.Fatal(err)
		}
		if ended && len(agents) > 0 {
			t.Errorf("session %d has ended and has agents %q", v, agents)
		}
		if len(agents) > 0 && !slices.Equal(agents, []string{"a", "b"}) {
			t.Errorf("session %d is half there: %q", v, agents)
		}
	}
	return rec.Version
}

const countTo = 200

// countUp does not sync, so that the processes collide more often.
func countUp(dir string) error {
	d, err := session.OpenDirectory(dir, session.WithSync(false))
	if err != nil {
		return err
	}
	for range countTo {
		if _, err := countOnce(context.Background(), d, crashKey); err != nil {
			return err
		}
	}
	return d.Close()
}

// TestDirectoryProcesses lets several processes update one value at once.
func TestDirectoryProcesses(t *testing.T) {
	const processes = 4
	dir := t.TempDir()
	var children []*crashtest.Child
	for range processes {
		children = append(children, crashtest.Start(t, "count", dir))
	}
	var failed error
	for _, child := range children {
		failed = errors.Join(failed, child.Wait())
	}
	if failed != nil {
		t.Fatal(failed)
	}
	rec, err := openDirectory(t, dir).Load(t.Context(), crashKey)
	if err != nil || rec.Version != processes*countTo || string(rec.Data) != text(rec.Version) {
		t.Errorf("got version %d, %.20q, %v, want %d", rec.Version, rec.Data, err, processes*countTo)
	}
}
