package eino_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/core"
)

var exampleSkills = fstest.MapFS{
	"greeting/SKILL.md": &fstest.MapFile{Data: []byte(`---
name: greeting
description: How to greet people here.
---
Greet with "Ahoy".
`)},
}

// exampleModel stands for a model: it loads the skill that the overview lists
// and then does what the skill says.
func exampleModel() *scripted {
	return answering(func(in []*schema.Message) (*schema.Message, error) {
		switch last := in[len(in)-1]; {
		case strings.Contains(last.Content, `Greet with "Ahoy"`):
			return schema.AssistantMessage("Ahoy!", nil), nil
		case strings.Contains(in[0].Content, "<name>greeting</name>"):
			return loading("call_1", "greeting"), nil
		default:
			return schema.AssistantMessage("Hello.", nil), nil
		}
	})
}

func ExampleInstall() {
	ctx := context.Background()
	rt, err := satchel.New(satchel.WithSkillFS("builtin", exampleSkills))
	if err != nil {
		log.Fatal(err)
	}
	cfg := &adk.ChatModelAgentConfig{
		Name:        "greeter",
		Description: "Greets people.",
		Instruction: "You greet people.",
		Model:       exampleModel(),
	}
	if _, err := eino.Install(cfg, rt); err != nil {
		log.Fatal(err)
	}
	greeter, err := adk.NewChatModelAgent(ctx, cfg)
	if err != nil {
		log.Fatal(err)
	}

	ctx = satchel.WithSession(ctx, "conversation-1")
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: greeter}).Query(ctx, "Say hello.")
	for {
		event, ok := events.Next()
		if !ok {
			break
		}
		if event.Err != nil {
			log.Fatal(event.Err)
		}
		m := event.Output.MessageOutput.Message
		for _, c := range m.ToolCalls {
			fmt.Println(m.Role, "calls", c.Function.Name, c.Function.Arguments)
		}
		if m.Content != "" {
			first, _, _ := strings.Cut(m.Content, "\n")
			fmt.Println(m.Role, "says", first)
		}
	}
	// Output:
	// assistant calls skill_load {"skill":"greeting"}
	// tool says loaded: greeting
	// assistant says Ahoy!
}

func ExampleInstallReact() {
	ctx := context.Background()
	rt, err := satchel.New(satchel.WithSkillFS("builtin", exampleSkills))
	if err != nil {
		log.Fatal(err)
	}
	cfg := &react.AgentConfig{
		ToolCallingModel: exampleModel(),
		MaxStep:          40, // loading, reading and running take several steps
		MessageModifier: func(_ context.Context, in []*schema.Message) []*schema.Message {
			return append([]*schema.Message{schema.SystemMessage("You greet people.")}, in...)
		},
	}
	if _, err := eino.InstallReact(cfg, rt); err != nil {
		log.Fatal(err)
	}
	greeter, err := react.NewAgent(ctx, cfg)
	if err != nil {
		log.Fatal(err)
	}
	ctx = satchel.WithSession(ctx, "conversation-1")
	answer, err := greeter.Generate(ctx, []*schema.Message{schema.UserMessage("Say hello.")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Content)
	loaded, err := rt.Loaded(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("loaded:", loaded[0].Skill)
	// Output:
	// Ahoy!
	// loaded: greeting
}

// The parts for a graph of one's own.
func ExampleNew() {
	ctx := context.Background()
	rt, err := satchel.New(satchel.WithSkillFS("builtin", exampleSkills))
	if err != nil {
		log.Fatal(err)
	}
	skills, err := eino.New(rt, eino.WithAgentName("greeter"))
	if err != nil {
		log.Fatal(err)
	}
	model, err := skills.Model(exampleModel())
	if err != nil {
		log.Fatal(err)
	}
	node, err := compose.NewToolNode(ctx, &compose.ToolsNodeConfig{
		Tools:               skills.Tools(), // add the host's own tools here
		ToolCallMiddlewares: []compose.ToolMiddleware{skills.ToolMiddleware()},
	})
	if err != nil {
		log.Fatal(err)
	}

	// A plain loop takes the place of the graph.
	ctx = satchel.WithSession(ctx, "conversation-1")
	history := []*schema.Message{schema.SystemMessage("You greet people."), schema.UserMessage("Say hello.")}
	for {
		answer, err := model.Generate(ctx, history)
		if err != nil {
			log.Fatal(err)
		}
		history = append(history, answer)
		if len(answer.ToolCalls) == 0 {
			fmt.Println(answer.Content)
			return
		}
		results, err := node.Invoke(ctx, answer)
		if err != nil {
			log.Fatal(err)
		}
		history = append(history, results...)
	}
	// Output: Ahoy!
}

func ExampleAdapter_Handler() {
	rt, err := satchel.New(satchel.WithSkillFS("builtin", exampleSkills),
		satchel.WithEvents(func(_ context.Context, e core.Event) {
			if e.Kind == core.ModelCalled {
				fmt.Println(e.Key.Agent, e.Usage.Prompt, e.Usage.Completion)
			}
		}))
	if err != nil {
		log.Fatal(err)
	}
	cfg := &react.AgentConfig{ToolCallingModel: script(metered(say("Hello."), 120, 0, 3))}
	skills, err := eino.InstallReact(cfg, rt)
	if err != nil {
		log.Fatal(err)
	}
	greeter, err := react.NewAgent(context.Background(), cfg)
	if err != nil {
		log.Fatal(err)
	}
	ctx := satchel.WithSession(context.Background(), "conversation-1")
	_, err = greeter.Generate(ctx, []*schema.Message{schema.UserMessage("Say hello.")},
		agent.WithComposeOptions(compose.WithCallbacks(skills.Handler())))
	if err != nil {
		log.Fatal(err)
	}
	// Output: react 120 3
}
