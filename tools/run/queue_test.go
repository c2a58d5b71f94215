package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/tools"
)

// However many commands are queued, no more run at once than allowed. A session
// that queues one command does not wait for all that another session has queued.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(4, 6)
		var mu sync.Mutex
		running, most := map[string]int{}, map[string]int{}
		var ended []string
		command := func(session string) {
			leave, err := q.enter(t.Context(), queueEntry{session: session}, time.Hour)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			running[session]++
			running["all"]++
			most[session], most["all"] = max(most[session], running[session]), max(most["all"], running["all"])
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running[session]--
			running["all"]--
			ended = append(ended, session)
			mu.Unlock()
			leave()
		}
		var all sync.WaitGroup
		for range 60 {
			all.Go(func() { command("greedy") })
		}
		synctest.Wait()
		for i := range 6 {
			all.Go(func() { command(fmt.Sprint("other", i)) })
		}
		all.Wait()
		if most["greedy"] != 4 || most["all"] != 6 || len(ended) != 66 {
			t.Errorf("%v at once, %d ended", most, len(ended))
		}
		others := 0
		for _, session := range ended[:30] {
			if session != "greedy" {
				others++
			}
		}
		if others != 6 {
			t.Errorf("%d of the others are among the first: %v", others, ended[:30])
		}
		if !q.places.IsEmpty() {
			t.Errorf("left: %+v", q.places)
		}
	})
}

// A command that gives up waiting says why, and takes no place.
func TestQueueGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 5)
		leave, err := q.enter(t.Context(), queueEntry{session: "s"}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var told tools.ModelError
		if _, err := q.enter(t.Context(), queueEntry{session: "s"}, time.Minute); !errors.As(err, &told) {
			t.Errorf("error %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := q.enter(ctx, queueEntry{session: "s"}, time.Minute); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		leave()
		if leave, err = q.enter(t.Context(), queueEntry{session: "s"}, time.Second); err != nil {
			t.Error(err)
		}
		leave()
		if !q.places.IsEmpty() {
			t.Errorf("left: %+v", q.places)
		}
	})
}

func TestTimeouts(t *testing.T) {
	const standard = 5 * time.Minute
	for _, tt := range []struct {
		limits        executor.Limits
		timeout, most time.Duration
	}{
		{executor.Limits{}, standard, 10 * time.Minute},
		{executor.Limits{Timeout: time.Hour}, time.Hour, time.Hour},
		{executor.Limits{Timeout: time.Minute, MaxTimeout: 2 * time.Minute}, time.Minute, 2 * time.Minute},
		{executor.Limits{MaxTimeout: time.Minute}, time.Minute, time.Minute},
		{executor.Limits{Timeout: -1}, -1, maxTimeout},
		{executor.Limits{Timeout: -1, MaxTimeout: time.Hour}, time.Hour, time.Hour},
	} {
		if timeout, most := timeouts(tt.limits, standard); timeout != tt.timeout || most != tt.most {
			t.Errorf("%+v: %s, at most %s; want %s and %s", tt.limits, timeout, most, tt.timeout, tt.most)
		}
	}
}

// TestQueueAlone: a command that runs alone waits for those that run, is not
// overtaken by later ones, and does not delay other sessions.
func TestQueueAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(4, 8)
		first, err := q.enter(t.Context(), queueEntry{session: "s"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		var mu sync.Mutex
		var all sync.WaitGroup
		come := func(name, session string, how beside) {
			all.Go(func() {
				leave, err := q.enter(t.Context(), queueEntry{session: session, beside: how}, time.Hour)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				order = append(order, "-"+name)
				mu.Unlock()
				leave()
			})
			synctest.Wait()
		}
		come("alone", "s", besideNone)
		come("later", "s", besideAll)
		come("other", "t", besideAll)
		if _, err := q.join(queueEntry{session: "s"}); err == nil {
			t.Error("a session began although one waits to be alone")
		}
		first()
		all.Wait()
		if got := strings.Join(order, " "); got != "other alone -other -alone later -later" && got != "other alone -alone later -other -later" && got != "other alone -alone -other later -later" {
			t.Errorf("%s", got)
		}
		leave, err := q.join(queueEntry{session: "s", beside: besideNone})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.join(queueEntry{session: "s"}); err == nil {
			t.Error("a session beside one that is alone")
		}
		leave()
		leave()
		if !q.places.IsEmpty() {
			t.Errorf("%+v is left", q)
		}
	})
}

// TestQueueBesideOwn: a command that runs beside those of its skill alone bears them, and
// waits for others or is refused.
func TestQueueBesideOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(4, 8)
		own, other := queueEntry{"s", "own", besideOwn}, queueEntry{"s", "other", besideAll}
		leave, err := q.enter(t.Context(), other, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.join(own); err == nil {
			t.Error("a session beside a command of another skill")
		}
		if _, err := q.enter(t.Context(), own, time.Second); err == nil {
			t.Error("a command beside one of another skill")
		}
		leave()
		talk, err := q.join(own)
		if err != nil {
			t.Fatal(err)
		}
		for e, refused := range map[queueEntry]bool{own: false, {"s", "own", besideAll}: false, other: true, {"s", "own", besideNone}: true, {"t", "other", besideNone}: false} {
			leave, err := q.enter(t.Context(), e, time.Hour)
			if err == nil {
				leave()
			}
			if (err != nil) != refused {
				t.Errorf("%+v: %v", e, err)
			}
		}
		talk()
		if !q.places.IsEmpty() {
			t.Errorf("%+v is left", q)
		}
	})
}

// TestQueueInOrder checks that a command which waits for another skill's is not delayed by later
// sessions and commands with which it is incompatible.
func TestQueueInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(4, 8)
		own, other := queueEntry{"s", "own", besideOwn}, queueEntry{"s", "other", besideAll}
		first, err := q.enter(t.Context(), own, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		order := make(chan string, 2)
		go pass(t, q, "other", other, order)
		synctest.Wait()
		if _, err := q.join(own); err == nil || !strings.Contains(err.Error(), "waits to run") {
			t.Errorf("a session that keeps a command waiting: %v", err)
		}
		go pass(t, q, "own", own, order)
		synctest.Wait()
		first()
		if a, b := <-order, <-order; a != "other" || b != "own" {
			t.Errorf("%s before %s", a, b)
		}
	})
}

// pass enters the queue, notes its name and leaves.
func pass(t *testing.T, q *queue, name string, e queueEntry, order chan<- string) {
	leave, err := q.enter(t.Context(), e, time.Hour)
	if err != nil {
		t.Error(err)
		return
	}
	order <- name
	leave()
}
