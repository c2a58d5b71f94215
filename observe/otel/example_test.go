package otel_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/observe/otel"
)

func ExampleNew() {
	recorded := tracetest.NewSpanRecorder() // a real host exports spans to a collector
	observer, err := otel.New(otel.WithTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(recorded))))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer observer.Close()
	rt, err := satchel.New(satchel.WithEvents(observer.Event))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rt.Close()

	// The runtime calls the observer for every event; here the example does.
	observer.Event(context.Background(), core.Event{Kind: core.SkillLoaded, Skill: "pdf"})
	for _, span := range recorded.Ended() {
		fmt.Println(span.Name())
	}
	// Output: load_skill pdf
}
