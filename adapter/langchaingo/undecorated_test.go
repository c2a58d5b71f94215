package langchaingo

import (
	"strings"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

// An agent that is not decorated writes each call of a response as a message of its own, and
// equal calls of two responses as one message. In mode Once the model still sees the content of
// each response once.
func TestOnceWithoutDecoratedAgent(t *testing.T) {
	for _, placement := range []processors.Placement{processors.InToolResult, processors.InSystem} {
		load := func(skill string) string { return `{"skill":"` + skill + `"}` }
		llm := script(
			reply("hm", call("1", "skill_load", load("pdf")), call("2", "skill_load", load("xlsx"))),
			reply("", call("1", "skill_load", load("pdf"))),
			reply("", call("1", "skill_load", load("pdf"))),
			reply("", call("1", "skill_list_docs", load("pdf"))),
			reply("done"),
		)
		adapter := install(t, runtime(t, satchel.WithLoading(satchel.Loading{Mode: loadmode.Once, Placement: placement})), llm, nil)
		ex := agents.NewExecutor(agents.NewOpenAIFunctionsAgent(adapter.Model(), adapter.Tools()), agents.WithMaxIterations(9))
		if _, err := chains.Run(satchel.WithSession(t.Context(), "s"), ex, "go"); err != nil {
			t.Fatal(err)
		}
		for i, want := range [][2]int{{0, 0}, {1, 1}, {1, 0}, {1, 0}, {0, 0}} {
			text := whole(llm.sent[i].messages)
			if got := [2]int{strings.Count(text, "PDF BODY"), strings.Count(text, "XLSX BODY")}; got != want {
				t.Errorf("placement %v, request %d shows %v, want %v:\n%s", placement, i, got, want, text)
			}
		}
	}
}
