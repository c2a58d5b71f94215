//go:build unix

package artifacts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/internal/testing/crashtest"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, map[string]func(dir string) error{"crash": writeForever, "count": countUp})
}

// content returns the content of version v. It has some hundred KiB, so that a kill often
// interrupts a write.
func content(v int) []byte { return bytes.Repeat([]byte(fmt.Sprintln("version", v)), 20_000+v%7) }

// writeForever saves versions and reports each on a line of its own, until it is killed.
func writeForever(dir string) error {
	d, err := artifacts.OpenDirectory(dir)
	if err != nil {
		return err
	}
	ctx := context.Background()
	all, err := d.List(ctx, "crash")
	if err != nil {
		return err
	}
	for v := len(all); ; v++ {
		info, err := d.Save(ctx, "crash", "out/a", "text/plain", bytes.NewReader(content(v)), 1<<20)
		if err != nil {
			return err
		}
		if info.Version != v {
			return fmt.Errorf("version %d, want %d", info.Version, v)
		}
		fmt.Println("saved", v)
		short := fmt.Sprint("short ", v)
		for range 2 {
			if _, err := d.Save(ctx, short, "a", "", strings.NewReader("x"), 1); err != nil {
				return err
			}
		}
		fmt.Println("whole", v)
		if err := d.End(ctx, short); err != nil {
			return err
		}
		fmt.Println("ended", v)
	}
}

// TestDirectoryCrash kills a writer at random moments and checks that nothing
// acknowledged is lost, nothing half-written is seen and no number is skipped.
func TestDirectoryCrash(t *testing.T) {
	const rounds = 50
	dir := t.TempDir()
	last := acknowledged{saved: -1}
	for round := range rounds {
		last.ended = map[int]bool{}
		crashtest.Start(t, "crash", dir).KillWithin(t, 30*time.Millisecond, func(line string) {
			var what string
			var version int
			if _, err := fmt.Sscan(line, &what, &version); err != nil {
				t.Fatalf("child says %q: %v", line, err)
			}
			last.note(what, version)
		})
		if checkCrashed(t, dir, last); t.Failed() {
			t.Fatalf("round %d: acknowledged %+v", round, last)
		}
	}
	if last.saved < rounds-1 {
		t.Errorf("only %d saves in %d rounds", last.saved, rounds)
	}
}

// acknowledged is what children said before they were killed.
type acknowledged struct {
	saved int
	// ended holds the short sessions that the last child wrote completely. The value
	// is true once the session has ended.
	ended map[int]bool
}

func (a *acknowledged) note(what string, version int) {
	switch what {
	case "saved":
		a.saved = version
	case "whole":
		a.ended[version] = false
	case "ended":
		a.ended[version] = true
	}
}

// checkCrashed compares a store with what a killed child acknowledged last.
func checkCrashed(t *testing.T, dir string, last acknowledged) {
	t.Helper()
	d := openDirectory(t, dir)
	defer d.Close()
	all, err := d.List(t.Context(), "crash")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(all) - 1; n < last.saved || n > last.saved+1 {
		t.Errorf("highest version %d after %d was acknowledged", n, last.saved)
	}
	for v, info := range all {
		if info.Version != v {
			t.Fatalf("version %d in place %d", info.Version, v)
		}
		if v < len(all)-20 { // earlier rounds have checked these versions
			continue
		}
		r, _, err := d.Open(t.Context(), "crash", info.Ref)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, content(v)) {
			t.Errorf("version %d: %d bytes, %v", v, len(got), err)
		}
	}
	for v, ended := range last.ended {
		short, err := d.List(t.Context(), fmt.Sprint("short ", v))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(short); ended && n != 0 || n != 0 && n != 2 {
			t.Errorf("short session %d has %d versions, ended: %v", v, n, ended)
		}
	}
}

const countTo = 100

// countUp does not sync, so that the processes collide more often.
func countUp(dir string) error {
	d, err := artifacts.OpenDirectory(dir, artifacts.WithSync(false))
	if err != nil {
		return err
	}
	for range countTo {
		info, err := d.Save(context.Background(), "s", "a", "", strings.NewReader("content"), 10)
		if err != nil {
			return err
		}
		fmt.Println(info.Version)
	}
	return d.Close()
}

// TestDirectoryProcesses lets several processes save one name at once.
func TestDirectoryProcesses(t *testing.T) {
	const processes = 4
	dir := t.TempDir()
	got := make(chan int, processes*countTo)
	waits := make(chan error, processes)
	for range processes {
		child := crashtest.Start(t, "count", dir)
		go func() {
			for child.Lines.Scan() {
				var v int
				if _, err := fmt.Sscan(child.Lines.Text(), &v); err != nil {
					t.Error(err)
				}
				got <- v
			}
			waits <- child.Wait()
		}()
	}
	for range processes {
		if err := <-waits; err != nil {
			t.Error(err)
		}
	}
	close(got)
	given := map[int]bool{}
	for v := range got {
		if given[v] || v < 0 || v >= processes*countTo {
			t.Errorf("version %d was given twice or leaves a gap", v)
		}
		given[v] = true
	}
	all, err := openDirectory(t, dir).List(t.Context(), "s")
	if err != nil || len(all) != processes*countTo || len(given) != processes*countTo {
		t.Errorf("%d versions listed, %d given, %v, want %d", len(all), len(given), err, processes*countTo)
	}
}
