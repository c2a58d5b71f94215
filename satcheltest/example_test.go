package satcheltest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/satchel-go/satchel/satcheltest"
)

func ExampleOpen() {
	server, err := satcheltest.Open(satcheltest.Plan(
		satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf")}, Answer: "It has 3 pages."},
	))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	resp, err := http.Post(server.URL()+"/chat/completions", "application/json",
		strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"How long is a.pdf?"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(strings.Contains(string(body), `"name":"skill_load"`), err)
	fmt.Println(server.Requests()[0].Messages[0].Text)
	// Output:
	// true <nil>
	// How long is a.pdf?
}
