package listeners_test

import (
	"testing"
	"testing/synctest"

	"github.com/satchel-go/satchel/library/internal/listeners"
)

func TestListeners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l listeners.Listeners
		l.Notify() // no function is registered yet
		called := make(chan string, 10)
		count := func() { called <- "one" }
		stop, stopAgain := l.Add(count), l.Add(count)
		l.Notify()
		synctest.Wait()
		if len(called) != 2 {
			t.Errorf("one function that was added twice is called %d times, want 2", len(called))
		}
		stop()
		stop() // a second stop does nothing
		l.Notify()
		synctest.Wait()
		if len(called) != 3 {
			t.Errorf("after one stop there are %d calls, want 3", len(called))
		}
		stopAgain()
		l.Notify()
		synctest.Wait()
		if len(called) != 3 {
			t.Errorf("after both have stopped there are %d calls, want 3", len(called))
		}
	})
}
