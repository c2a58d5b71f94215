package conversation_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// What is cleared depends on the record and the request alone. So a host whose process ends
// after each step sends the same bytes as one that continues, whatever pauses there are between
// its requests.
func TestDecisionsSurviveARestartBetweenCalls(t *testing.T) {
	t.Parallel()
	const ttl = 5 * time.Minute
	for name, opts := range map[string][]satchel.Option{
		"policy": {satchel.WithLoading(satchel.Loading{Clearing: loadmode.CachePolicy{Read: 0.1, Write: 1.25, Horizon: 2, TTL: ttl}})},
		"stays":  {satchel.WithLoading(satchel.Loading{Clearing: stays})},
		"prices": {satchel.WithLoading(satchel.Loading{Prices: loadmode.Prices{Read: 0.1, Write: 1.25, TTL: ttl}})},
		"free":   {satchel.WithLoading(satchel.Loading{Prices: loadmode.Prices{Write: 1, TTL: ttl}})},
		"all":    {satchel.WithLoading(satchel.Loading{Prices: loadmode.Prices{Write: 1}})}, // so many texts are cleared that the record lists them
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown, went := 0, 0
			for seed := range uint64(4) {
				goesOn, restarts := viewsWithPauses(t, seed, false, opts), viewsWithPauses(t, seed, true, opts)
				for i, view := range goesOn {
					if !reflect.DeepEqual(view, restarts[i]) {
						t.Fatalf("seed %d: with restarts request %d is\n%s\nwithout\n%s", seed, i, chattest.Shown(restarts[i]), chattest.Shown(view))
					}
					now := len(chattest.Where(view))
					if shown += now; i > 0 && now < len(chattest.Where(goesOn[i-1])) {
						went++
					}
				}
			}
			if shown == 0 || (went == 0) != (name == "all") {
				t.Errorf("%d texts were in view, %d times some went: does this decide anything?", shown, went)
			}
		})
	}
}

// viewsWithPauses are the requests of a random conversation in which minutes pass.
func viewsWithPauses(t *testing.T, seed uint64, restarts bool, opts []satchel.Option) (views [][]core.Message) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, w := rand.New(rand.NewPCG(seed, 9)), chattest.NewWorld(9)
		opts := append([]satchel.Option{satchel.WithStore(chattest.Decoded{Store: session.NewMemory()})}, opts...)
		c := chattest.NewChat(t, chattest.Open(t, w.Files, opts...)).Say(core.System, "You help.")
		pause := func(seconds int) {
			time.Sleep(time.Duration(r.IntN(seconds)) * time.Second)
			if restarts {
				c.Runtime = chattest.Open(t, w.Files, opts...)
			}
		}
		for turn := range 12 {
			c.Say(core.User, fmt.Sprint("question ", turn))
			views = append(views, c.View())
			for range r.IntN(3) {
				pause(200)
				calls := c.Respond([]string{fmt.Sprintf(`skill_load {"skill":"s%d"}`, r.IntN(9)), "search x"}[r.IntN(2)])
				pause(10)
				c.Execute(calls[0])
				views = append(views, c.View())
			}
			pause(200)
			c.Answer("done")
			pause(500)
		}
	})
	return views
}
