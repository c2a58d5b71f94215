package conversation_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
)

// inOrder executes the calls of a response at once, begun in the given order,
// and returns the answers by position.
func inOrder(t *testing.T, c *chattest.Chat, calls []core.ToolCall, order []int) []string {
	t.Helper()
	answers := make([]string, len(calls))
	var running sync.WaitGroup
	for _, i := range order {
		running.Go(func() {
			answer, err := c.Runtime.CallTool(c.Context, c.Key, calls[i])
			if err != nil {
				t.Error(err)
			}
			answers[i] = answer
		})
		time.Sleep(2 * time.Millisecond) // lets this call begin before the next one
	}
	running.Wait()
	return answers
}

// TestOrderOfExecutionDoesNotMatter executes a response with three loads and a
// read under a cap of two in every order.
func TestOrderOfExecutionDoesNotMatter(t *testing.T) {
	type outcome struct {
		answers []string
		view    []core.Message
		loaded  []string
	}
	play := func(t *testing.T, order []int, ids bool) outcome {
		c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(4).Files, satchel.WithLoading(satchel.Loading{Max: 2}))).Say(core.User, "hi")
		c.Calls("skill_load s3")
		c.View()
		calls := []core.ToolCall{
			{Name: "skill_load", Arguments: "s0"},
			{Name: "skill_load", Arguments: `{"skill":"s1","docs":["d0.md"]}`},
			{Name: "skill_load", Arguments: "s2"},
			{Name: "skill_read", Arguments: `{"path":"data.csv"}`},
		}
		if ids {
			for i := range calls {
				calls[i].ID = fmt.Sprintf("call_%d", i)
			}
		}
		c.Observe(calls)
		answers := inOrder(t, c, calls, order)
		for i, a := range answers {
			c.Messages = append(c.Messages, core.Message{Role: core.ToolResult, CallID: calls[i].ID, Text: a})
		}
		return outcome{answers, c.View(), c.LoadedNames()}
	}
	for _, ids := range []bool{true, false} {
		want := play(t, []int{0, 1, 2, 3}, ids)
		chattest.Same(t, "loaded", want.loaded, "s1[d0.md]", "s2[]")
		for _, order := range permutations(4) {
			t.Run(fmt.Sprint(order, ids), func(t *testing.T) {
				t.Parallel()
				if got := play(t, order, ids); !reflect.DeepEqual(got, want) {
					t.Errorf("got\n%+v\nwant\n%+v", got, want)
				}
			})
		}
	}
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}

// TestConcurrentUse lets 64 goroutines work on one session, each with skills
// that only it loads: whatever the order, none of their changes may be lost.
func TestConcurrentUse(t *testing.T) {
	for _, ids := range []string{"unique", "repeated", "none", "unobserved"} {
		t.Run(ids, func(t *testing.T) {
			t.Parallel()
			const workers = 64
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			r := chattest.Open(t, chattest.NewWorld(2*workers).Files, satchel.WithLoading(satchel.Loading{Max: -1, Mode: loadmode.Session}))
			var running sync.WaitGroup
			for n := range workers {
				running.Go(func() { worker(ctx, t, r, ids, n) })
			}
			running.Wait()
			c := chattest.NewChat(t, r).Say(core.User, "hi")
			var want []string
			for n := range workers {
				want = append(want, fmt.Sprintf("s%d[d2.md d0.md]", 2*n))
			}
			got := c.LoadedNames()
			slices.Sort(got)
			slices.Sort(want)
			chattest.Same(t, "loaded", got, want...)
			if n := len(chattest.Marks.FindAllString(strings.Join(chattest.Where(c.View()), ""), -1)); n != 3*workers {
				t.Errorf("%d texts are shown, want %d", n, 3*workers)
			}
		})
	}
}

// worker loads two skills in one response, selects docs of the first, and
// unloads the second.
func worker(ctx context.Context, t *testing.T, r *satchel.Runtime, ids string, n int) {
	key := core.SessionKey{Session: "chat", Agent: "main"}
	first, second := fmt.Sprintf("s%d", 2*n), fmt.Sprintf("s%d", 2*n+1)
	for _, response := range [][]core.ToolCall{
		{{Name: "skill_load", Arguments: first}, {Name: "skill_load", Arguments: second}},
		{{Name: "skill_select_docs", Arguments: fmt.Sprintf(`{"skill":%q,"docs":["d2.md","d0.md"]}`, first)}},
		{{Name: "skill_unload", Arguments: second}, {Name: "skill_read", Arguments: fmt.Sprintf(`{"skill":%q,"path":"data.csv"}`, first)}},
	} {
		for i := range response {
			switch ids {
			case "unique":
				response[i].ID = fmt.Sprintf("%d-%d-%s", n, i, response[i].Name)
			case "repeated":
				response[i].ID = fmt.Sprintf("call_%d", i)
			}
		}
		if _, err := r.Prepare(ctx, core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "hi"}}}); err != nil {
			t.Error(err)
		}
		if ids != "unobserved" {
			if err := r.Hooks().Observe(ctx, key, response); err != nil {
				t.Error(err)
			}
		}
		var running sync.WaitGroup
		for _, call := range response {
			running.Go(func() {
				answer, err := r.CallTool(ctx, key, call)
				if err != nil || strings.HasPrefix(answer, "error:") || strings.HasPrefix(answer, "not loaded") {
					t.Errorf("%s %s answers %q, %v", call.Name, call.Arguments, answer, err)
				}
			})
		}
		running.Wait()
	}
}
