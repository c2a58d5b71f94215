// Package satchel gives an agent that already exists Agent Skills: folders with
// a SKILL.md that the model discovers for a few tokens and loads when a task
// needs them. It is middleware. The host keeps its agent, its model, its tools
// and its history. A [Runtime] adds four things around them, and an adapter
// (adapter/eino, adapter/langchaingo) puts them into its framework:
//
//   - the view: [Agent.Prepare] gives the model the request of this call;
//   - the tools: [Runtime.Tools] are offered, and [Call.Run] answers them;
//   - the gate: [Call.Gate] decides on every tool call of the agent;
//   - the turn: lifetimes end when a user turn begins, which Prepare detects or
//     [BeginTurn] says.
package satchel
