package conversation_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// Of thousands of calls in one response the first 256 of the runtime's own tools are
// executed. The others are answered, and cost the record nothing; the next response is
// executed again.
func TestManyCallsInOneResponse(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 3 {
		name := fmt.Sprintf("s%d", i)
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: A.\n---\nB\n")}
	}
	c := chattest.NewChat(t, chattest.Open(t, files)).Say(core.User, "hi")
	c.View()
	var calls []string
	for i := range 3000 {
		calls = append(calls, fmt.Sprintf(`skill_load {"skill":"s%d"}`, i%2))
	}
	answers := c.Calls(append(calls, `skill_load {"skill":"s2"}`)...)
	for i, answer := range answers {
		if refused := strings.HasPrefix(answer, "error: not executed: one message may hold 256 calls"); refused != (i >= 256) {
			t.Fatalf("call %d is answered %s", i+1, answer)
		}
	}
	chattest.Same(t, "loaded", c.LoadedNames(), "s0[]", "s1[]")
	if answer := c.Calls(`skill_load {"skill":"s2"}`)[0]; !strings.HasPrefix(answer, "loaded: s2") {
		t.Errorf("the next response: %s", answer)
	}
}
