package egress_test

import (
	"fmt"
	"net"

	"github.com/satchel-go/satchel/executor/egress"
)

func ExampleNew() {
	granted, err := egress.ParseRule("https://*.example.com")
	if err != nil {
		fmt.Println(err)
		return
	}
	asked, err := egress.ParseRule("https://api.example.com")
	if err != nil {
		fmt.Println(err)
		return
	}
	policy, refused := egress.Policy{Rules: []egress.Rule{granted}}.Narrow([]egress.Rule{asked})
	fmt.Println(policy.Rules, refused)

	proxy, err := egress.New(policy)
	if err != nil {
		fmt.Println(err)
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") // a sandbox provides a listener
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan error)
	go func() { done <- proxy.Serve(listener) }()
	fmt.Println(proxy.Close(), <-done)
	// Output:
	// [https://api.example.com] []
	// <nil> <nil>
}

func ExampleParseRule() {
	for _, text := range []string{"https://API.example.com.", "https://*.example.com:8443", "https://*.github.io"} {
		fmt.Println(egress.ParseRule(text))
	}
	// Output:
	// https://api.example.com <nil>
	// https://*.example.com:8443 <nil>
	//  rule "https://*.github.io": below github.io are the names of strangers
}
