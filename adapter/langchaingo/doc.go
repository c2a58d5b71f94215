// Package langchaingo adds the skills of a [satchel.Runtime] to agents built on langchaingo. It
// converts the framework's messages to Satchel's and back, and repairs what the framework loses
// between an agent and a model.
//
// [Install] wraps three things of the host: its model, its tools and its agent.
//
//	adapter, err := langchaingo.Install(runtime, llm, hostTools)
//	agent := adapter.Agent(agents.NewOpenAIFunctionsAgent(adapter.Model(), adapter.Tools()))
//	executor := agents.NewExecutor(agent, agents.WithMaxIterations(40))
//	answer, err := chains.Run(satchel.WithSession(ctx, "s-1"), executor, "question")
//
// The executor's default of 5 iterations is too few to load a skill, read its files and run its
// scripts, so the example sets 40.
//
// A host without an agent calls GenerateContent of [Adapter.Model] in its own loop and answers the calls
// with [Adapter.Call].
//
// # Identity
//
// A context made by satchel.WithSession names the conversation. Without one, each Call of an
// executor gets an anonymous session that ends with it; the host does nothing for that. The
// decorated agent recognises the Call by its input map. A tool recognises its call by the
// memory of the input string that it gets. A hand-written loop without a session name uses
// [Adapter.Begin].
//
// # Files that users attach
//
// Binary parts and pictures of the users' messages are in work/inputs when a skill runs.
// Content and data: URLs need nothing; other URLs need the runner's resolver, because the
// adapter fetches nothing. The framework has no names for files, so they are called upload_1,
// upload_2 and so on, unless a data: URL has the parameter name.
//
// # Agents that work in text
//
// [Adapter.Agent] also gives skills to OneShotZeroAgent and ConversationalAgent. The overview
// comes before their one prompt, and the texts of skills after the observations. Other agents
// of that kind are not supported.
package langchaingo
