package langchaingo

import (
	"context"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"
)

// answered adds a response of the model to a run, and returns the steps that an executor makes
// of it.
func (r *run) answered(observation string, calls ...llms.ToolCall) []schema.AgentStep {
	resp := reply("", calls...)
	r.responses = append(r.responses, response{stepsBefore: len(r.steps), calls: coreCalls(resp.Choices[0]), message: verbatimMessage(resp.Choices[0])})
	out := append([]schema.AgentStep(nil), r.steps...)
	for _, c := range calls {
		out = append(out, steps(c.FunctionCall.Name, c.ID, observation)...)
	}
	return out
}

func TestTellMakesNothingTwice(t *testing.T) {
	r := &run{}
	if got := r.transcript(); len(got) != 0 {
		t.Errorf("tell of nothing = %v", lines(got))
	}
	r.steps = r.answered("r1", call("1", "x", "{}"), call("2", "Y", "{}"))
	first := r.transcript()
	r.steps = r.answered("r2", call("1", "x", "{}"))
	second := r.transcript()
	want := []string{"0 ai: call 1 x {}", "0 ai: call 2 Y {}", "1 tool: result 1 x r1", "2 tool: result 2 Y r1", "3 ai: call 1 x {}", "4 tool: result 1 x r2"}
	if diff := differ(want, lines(second)); diff != "" {
		t.Errorf("tell (-want +got):\n%s", diff)
	}
	for i := range first {
		if &first[i].Parts[0] != &second[i].Parts[0] {
			t.Errorf("message %d was made again", i)
		}
	}
	if n := testing.AllocsPerRun(100, func() { r.transcript() }); n != 0 {
		t.Errorf("%v allocations for what was told before", n)
	}
}

// TestTellOfOtherSteps plans a second time with other steps. The messages of the earlier
// request must not change.
func TestTellOfOtherSteps(t *testing.T) {
	r := &run{}
	r.steps = r.answered("r1", call("1", "x", "{}"))
	r.steps = r.answered("r2", call("2", "x", "{}"))
	before := r.transcript()
	kept := lines(before)
	last := r.steps[1]

	r.steps = r.steps[:1]
	if diff := differ(kept[:2], lines(r.transcript())); diff != "" {
		t.Errorf("tell of fewer steps (-want +got):\n%s", diff)
	}
	last.Observation = "other"
	r.steps = []schema.AgentStep{r.steps[0], last}
	want := append(append([]string(nil), kept[:3]...), "3 tool: result 2 x other")
	if diff := differ(want, lines(r.transcript())); diff != "" {
		t.Errorf("tell of another observation (-want +got):\n%s", diff)
	}
	last.Action.ToolID = "9"
	r.steps = []schema.AgentStep{r.steps[0], last}
	if got := r.transcript(); got != nil {
		t.Errorf("tell of a step that no response asked for = %v", lines(got))
	}
	if diff := differ(kept, lines(before)); diff != "" {
		t.Errorf("an earlier request changed:\n%s", diff)
	}
}

// resampler calls the model twice for each Plan, as an agent that samples does.
type resampler struct{ *viewModel }

func (m resampler) GenerateContent(ctx context.Context, msgs []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	if _, err := m.viewModel.GenerateContent(ctx, msgs, options...); err != nil {
		return nil, err
	}
	return m.viewModel.GenerateContent(ctx, msgs, options...)
}

func TestCallingTheModelTwiceInOnePlan(t *testing.T) {
	first := reply("hm", call("1", "a", `{"__arg1":"x"}`))
	llm := script(first, first, reply("", call("2", "a", `not JSON`)), reply("", call("2", "a", `not JSON`)), reply("done"), reply("done"))
	adapter := install(t, runtime(t), llm, []tools.Tool{hostTool{name: "a"}})
	agent := adapter.Agent(agents.NewOpenAIFunctionsAgent(resampler{adapter.model}, adapter.Tools()))
	if _, err := chains.Run(t.Context(), agents.NewExecutor(agent), "q"); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(llm.sent); i += 2 {
		if diff := differ(llm.sent[i].messages, llm.sent[i+1].messages); diff != "" {
			t.Errorf("the second call of Plan %d sent something else:\n%s", i/2, diff)
		}
	}
	want := []string{"2 ai: hm", `2 ai: call 1 a {"__arg1":"x"}`, "3 tool: result 1 a a got x", `4 ai: call 2 a {"__arg1":"not JSON"}`, "5 tool: result 2 a a got not JSON"}
	if diff := differ(want, lines(llm.last().messages)[2:]); diff != "" {
		t.Errorf("last request (-want +got):\n%s", diff)
	}
}
