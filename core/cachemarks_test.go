package core_test

import (
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/core"
)

// roles makes messages from letters: s, u, a and t.
func roles(letters string) []core.Message {
	var messages []core.Message
	for _, l := range letters {
		role := map[rune]core.Role{'s': core.System, 'u': core.User, 'a': core.Assistant, 't': core.ToolResult}[l]
		messages = append(messages, core.Message{Role: role, Text: "text"})
	}
	return messages
}

func TestCacheMarks(t *testing.T) {
	for letters, want := range map[string]string{
		"":                 "[]",
		"u":                "[0]",
		"su":               "[0 1]",
		"ssu":              "[1 2]",
		"suat":             "[0 1 3]",
		"suatat":           "[0 1 3 5]",
		"suatttat":         "[0 1 5 7]",
		"suatau":           "[0 1 3 5]",
		"suatauat":         "[0 5 7]",
		"suatauatattt":     "[0 5 7 11]",
		"sua":              "[0 1]",
		"uau":              "[0 2]",
		"a":                "[]",
		"s":                "[0]",
		"suuat":            "[0 2 4]",
		"suatasu":          "[0 1 3 6]",
		"suatatatatatatau": "[0 1 13 15]",
	} {
		messages := roles(letters)
		got := core.View{Messages: messages}.CacheMarks()
		if fmt.Sprint(got) != want {
			t.Errorf("%s: marks %v, want %s", letters, got, want)
		}
	}
}

// A mark at the end of one request is also set in the next one, so that the provider finds its
// entry without looking back.
func TestMarksMeetTheRequestBefore(t *testing.T) {
	conversation := roles("suatattauatauattttattau")
	end := -1
	for n := range conversation {
		if n == 0 || conversation[n-1].Role == core.Assistant || n < len(conversation) && conversation[n].Role != core.Assistant {
			continue // the model is not called at this point
		}
		marks := core.View{Messages: conversation[:n]}.CacheMarks()
		found := end < 0
		for _, m := range marks {
			found = found || m == end
		}
		if !found || len(marks) > 4 {
			t.Errorf("request of %d messages has marks %v and not the end of the one before, %d", n, marks, end)
		}
		end = marks[len(marks)-1]
	}
}

func ExampleView_CacheMarks() {
	view := core.View{Messages: []core.Message{
		{Role: core.System, Text: "You help."},
		{Role: core.User, Text: "Fill in this form."},
		{Role: core.Assistant, Calls: []core.ToolCall{{Name: "skill_load", Arguments: "pdf"}}},
		{Role: core.ToolResult, Text: "loaded: pdf"},
	}}
	fmt.Println(view.CacheMarks())
	// Output: [0 1 3]
}
