// Package eino adds the skills of a [satchel.Runtime] to agents built on Eino
// (github.com/cloudwego/eino).
//
// [Install] prepares the configuration of an adk.ChatModelAgent, and [InstallReact] that of a
// flow/agent/react agent. A host builds a graph of its own from the parts of an [Adapter]:
// the wrapped model, the tools and the tool middleware. The wrapped model reports token usage
// and durations to the runtime's event hook, and [Adapter.Handler] adds calls of the host's own
// tools.
//
// The package supports Eino v0.7.36 and all later versions; docs/frameworks.md says what works
// on which.
//
// # What the adapter changes
//
// The adapter wraps the model, because only there can it change a request without Eino storing
// the change. Every call gets its view of the messages. Eino's history (graph state, events,
// checkpoints) contains only what the agent itself produced. Middleware hooks and state handlers
// would write their edits back, so the adapter does not use them. Instructions, user messages
// and skills reach the model verbatim, braces included, because the view is made after all
// templating.
//
// Each tool call, the host's tools included, passes the runtime's gate, so the allowed-tools of
// loaded skills apply to it. With [Interrupt] as approver, calls that no list decides on
// interrupt the run. A call of a tool that does not exist is answered in text and runs nothing;
// see [Adapter.UnknownTools].
//
// # Sessions
//
// The host puts the conversation's id into the context with [satchel.WithSession] before it
// runs the agent. The load mode then decides how long skills stay loaded. They survive transfers between
// agents, further runs, and an interrupt and its resume; with a durable store also in another
// process. An agent's name is part of the key of its state: what one agent loads, another does
// not see.
//
// Without a session id the state lives for one run of one agent's graph and is never shared
// with another run. Nothing in Eino outlives such a run. If control is transferred away and
// back, or a run is resumed from a checkpoint, Eino starts a new graph run. The runtime then
// restores the loads of the current turn from the transcript, unless a skill has changed
// meanwhile. The runs of a graph without local state (compose.WithGenLocalState) cannot be
// distinguished, and calls in it end with [satchel.ErrNoSession].
//
// Calls of the same sub-agent that run at the same time in one named session share that
// sub-agent's state.
//
// # Files that users attach
//
// Files, pictures, audio and video in the parts of user messages are in work/inputs when a
// skill runs. Content in base64 or in data: URLs needs nothing; other URLs need the runner's
// resolver, because the adapter fetches nothing. The adapter takes the files from the agent's
// last model call in this process. A tool that is resumed in another process finds only files that
// were staged before into a kept workspace.
//
// # Limits that Eino sets
//
// A skill takes a model call to load and usually one or more to use. Install changes none of
// the agent's limits. adk's MaxIterations is 20 by default. react's MaxStep defaults to 12
// graph steps, about five rounds of model and tools: raise it for agents that load, read and
// run.
//
// Concurrent runs of one adk agent with tools race in Eino, with or without skills. In 0.7.36
// the race is in the graph, which each run compiles again. In 0.9.13 and 0.10.0-alpha.12 it is
// in the agent's settings. An installed configuration may be passed to adk.NewChatModelAgent
// any number of times, which takes 1 to 8 µs, so that each run has an agent of its own.
package eino
