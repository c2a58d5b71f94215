// Package langchaingo gives agents built on langchaingo their skills. It is
// thin: it turns the framework's messages into Satchel's and back, and repairs
// what the framework loses on the way between an agent and a model.
//
// [Install] wraps three things of the host: its model, its tools and its
// agent.
//
//	adapter, err := langchaingo.Install(runtime, llm, hostTools)
//	agent := adapter.Agent(agents.NewOpenAIFunctionsAgent(adapter.Model(), adapter.Tools()))
//	executor := agents.NewExecutor(agent, agents.WithMaxIterations(40))
//	answer, err := chains.Run(satchel.WithSession(ctx, "s-1"), executor, "question")
//
// The executor's default of 5 iterations is too few for loading a skill,
// reading its files and running its scripts: give it more.
//
// A host without an agent calls [Model.GenerateContent] in its own loop and
// answers the calls with [Adapter.Call].
//
// # Identity
//
// A context made by satchel.WithSession names the conversation. Without one,
// each Call of an executor gets an anonymous session that ends with it, which
// needs nothing from the host: the decorated agent knows the Call by its input
// map, and a tool knows the call that it answers by the input string that the
// decorated agent handed out. A hand-written loop that wants neither a name nor
// an executor uses [Adapter.Begin].
//
// # Files that users attach
//
// Binary parts and pictures of the users' messages are in work/inputs when a
// skill runs: content and data: URLs by themselves, other URLs by the resolver
// that the runner has, for nothing is fetched here. The framework has no names
// for files, so they are called upload_1, upload_2 and so on, unless a data: URL
// has the parameter name.
//
// # Agents that work in text
//
// OneShotZeroAgent and ConversationalAgent have skills by [Adapter.Agent]: the overview
// stands in front of their one prompt, the texts of skills behind the observations.
// Other agents of that kind are not supported.
package langchaingo
