// Package satchel adds Agent Skills to an existing agent. A skill is a folder with a SKILL.md:
// the model sees its description at the cost of a few tokens, and loads the rest when a task
// needs it. Satchel is middleware. The host keeps its agent, its model, its tools and its
// history. A [Runtime] adds four things around them, and an adapter (adapter/eino,
// adapter/langchaingo) puts them into its framework:
//
//   - the view: [Agent.Prepare] returns the request to send to the model;
//   - the tools: [Runtime.Tools] are offered, and [Call.Run] answers them;
//   - the gate: [Call.Gate] decides on every tool call of the agent;
//   - the turn: lifetimes end when a user turn begins, which Prepare detects or
//     [BeginTurn] marks.
package satchel
