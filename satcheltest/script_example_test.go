package satcheltest_test

import (
	"fmt"
	"net/http"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// answer is what a script answers to a request, in one line.
func answer(r satcheltest.Response) string {
	if r.Status != 0 {
		return fmt.Sprint(r.Status, " ", r.Err)
	}
	text := r.Text
	for _, c := range r.Calls {
		text += c.Name + " " + c.Arguments
	}
	return text
}

func ExampleDo() {
	plan := satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Do("weather", map[string]string{"city": "Oslo"})}, Answer: "Rain."})
	fmt.Println(answer(plan(satcheltest.Request{Messages: []satcheltest.Message{{Role: "user", Text: "How is it in Oslo?"}}})))
	// Output: weather {"city":"Oslo"}
}

func ExampleResponse() {
	script := func(r satcheltest.Request) satcheltest.Response {
		return satcheltest.Response{Text: fmt.Sprint("You have said ", r.Turn(), " things.")}
	}
	fmt.Println(answer(script(satcheltest.Request{Messages: []satcheltest.Message{{Role: "user"}, {Role: "user"}}})))
	// Output: You have said 2 things.
}

func ExampleResponse_calls() {
	fmt.Println(answer(satcheltest.Response{Calls: []core.ToolCall{satcheltest.ToolCall("skill_load", `{"skill":"pdf"}`)}}))
	// Output: skill_load {"skill":"pdf"}
}

func ExampleToolCall() {
	call := satcheltest.ToolCall("skill_run", map[string]any{"skill": "pdf", "command": "ls"})
	fmt.Println(call.Name, call.Arguments)
	// Output: skill_run {"command":"ls","skill":"pdf"}
}

func ExampleResponse_status() {
	fmt.Println(answer(satcheltest.Response{Status: http.StatusTooManyRequests, Err: "slow down"}))
	// Output: 429 slow down
}
