package main

import "github.com/satchel-go/satchel/core"

// step is one model call: what the user asks before it, if anything, and what
// the model answers.
type step struct {
	question string
	response core.Message
}

// steps are a turn with two tool calls and a turn without any.
func steps() []step {
	return []step{
		{"Write the release notes for 1.4.0.", calling("1", "skill_load", `{"skill":"release-notes","docs":["references/style.md"]}`)},
		{"", calling("2", "changes_since", `{"version":"1.3.0"}`)},
		{"", saying("## 1.4.0 …")},
		{"Now those for 1.4.1.", saying("## 1.4.1 …")},
	}
}

func calling(id, tool, args string) core.Message {
	return core.Message{Role: core.Assistant, Calls: []core.ToolCall{{ID: id, Name: tool, Arguments: args}}}
}

func saying(text string) core.Message { return core.Message{Role: core.Assistant, Text: text} }
