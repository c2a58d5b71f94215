package core

import "slices"

// CacheMarks returns the indexes of the messages after which a provider with explicit marks,
// such as Anthropic, should cache the prefix of the request. There are at most four, in order,
// and none is a message of the assistant:
//
//   - the last of the leading system messages;
//   - the last user message before the end: its entry still matches after Satchel has removed
//     content of a turn;
//   - the end of the previous request: a mark there is found however many results follow it;
//   - the end of this request.
//
// The marks depend on roles alone, so the same request always has the same marks.
func (v View) CacheMarks() []int {
	messages := v.Messages
	var marks []int
	mark := func(i int) {
		if i >= 0 && messages[i].Role != Assistant && !slices.Contains(marks, i) {
			marks = append(marks, i)
		}
	}
	end := len(messages) - 1
	system := -1
	for system < end && messages[system+1].Role == System {
		system++
	}
	mark(system)
	mark(lastOf(messages, User, end))
	mark(lastOf(messages, Assistant, end+1) - 1)
	mark(end)
	slices.Sort(marks)
	return marks
}

// lastOf returns the index of the last message of a role before index end, or -1.
func lastOf(messages []Message, role Role, end int) int {
	for i := min(end, len(messages)) - 1; i >= 0; i-- {
		if messages[i].Role == role {
			return i
		}
	}
	return -1
}
