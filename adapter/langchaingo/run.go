package langchaingo

import (
	"container/list"
	"context"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// maxRuns bounds the Calls that a kit remembers at one time. An executor that
// stops at its iteration limit tells nobody, so its Call stays until this many
// others have begun.
const maxRuns = 1024

// run is what is known of one Call of an executor.
type run struct {
	key       core.SessionKey
	anonymous bool
	inputs    map[string]string // kept, so that its address stays its identity
	turn      string
	earlier   []llms.MessageContent

	// The rest is guarded by runs.mu.
	question  string
	steps     []schema.AgentStep // of the present Plan
	responses []response
	told      []llms.MessageContent // what of responses and steps is told already
	waiting   []*waiting
	place     *list.Element
}

// waiting is a call that was handed to the executor.
type waiting struct {
	run   *run
	call  core.ToolCall
	input string // what the executor will pass to the tool
	taken bool
}

// runs are the Calls that are under way.
type runs struct {
	runtime *satchel.Runtime
	agent   string

	mu       sync.Mutex
	byInputs map[uintptr]*run
	byInput  map[*byte]*waiting
	order    *list.List // of *run, the least recently planned first
}

func newRuns(rt *satchel.Runtime, agent string) *runs {
	return &runs{runtime: rt, agent: agent, byInputs: map[uintptr]*run{}, byInput: map[*byte]*waiting{}, order: list.New()}
}

// enter returns the run that a Plan with these inputs belongs to, and whether
// it has just begun. An executor passes one and the same map to every Plan of
// a Call. Inputs that are nil identify nothing: such a run is not found again.
func (s *runs) enter(ctx context.Context, inputs map[string]string) (_ *run, begun bool) {
	address := reflect.ValueOf(inputs).Pointer()
	s.mu.Lock()
	r := s.byInputs[address]
	if r != nil {
		s.order.MoveToBack(r.place)
	}
	s.mu.Unlock()
	if r != nil {
		return r, false
	}

	r = s.begin(ctx, inputs)
	s.mu.Lock()
	var oldest *run
	if s.order.Len() >= maxRuns {
		oldest, _ = s.order.Front().Value.(*run)
	}
	r.place = s.order.PushBack(r)
	if inputs != nil {
		s.byInputs[address] = r
	}
	s.mu.Unlock()
	if oldest != nil {
		_ = s.leave(ctx, oldest) // the run that begins is not at fault
	}
	return r, true
}

func (s *runs) begin(ctx context.Context, inputs map[string]string) *run {
	r := &run{inputs: inputs}
	if id, ok := satchel.SessionID(ctx); ok {
		r.key = satchel.NestedKey(ctx, core.SessionKey{Session: id, Agent: s.agent})
	} else {
		r.key, r.anonymous = s.runtime.Anonymous(s.agent), true
	}
	token, ok := satchel.TurnToken(ctx)
	if !ok {
		token, _ = satchel.TurnToken(satchel.BeginTurn(ctx, ""))
	}
	r.turn = token
	return r
}

// plan notes the steps that a Plan was called with. Responses that they do not
// contain were never acted upon: a Plan is retried from the same steps. Calls
// that no tool was asked for, such as those of unknown tools, have ended too.
func (s *runs) plan(r *run, steps []schema.AgentStep) {
	s.mu.Lock()
	r.steps = steps
	n := len(r.responses)
	for n > 0 && r.responses[n-1].at >= len(steps) {
		n--
	}
	r.responses = r.responses[:n]
	left := s.settle(r)
	s.mu.Unlock()
	for _, call := range left {
		s.runtime.Finished(r.key, call)
	}
}

// answer notes a response of the model to the present Plan.
func (s *runs) answer(r *run, question string, calls []core.ToolCall, message llms.MessageContent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.question = question
	if n := len(r.responses); n > 0 && r.responses[n-1].at == len(r.steps) {
		r.responses = r.responses[:n-1]
	}
	r.responses = append(r.responses, response{at: len(r.steps), calls: calls, message: message})
}

// account returns the Call as it happened, and the number of its steps. It is
// nil where the remembered responses do not explain the steps.
func (s *runs) account(r *run) ([]llms.MessageContent, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.tell(), len(r.steps)
}

// expect hands the actions of a Plan to the executor. Each input becomes a
// string of its own memory, which the executor passes on unchanged: whatever
// other Call asks for the same, the tool that gets it knows which call it
// answers.
func (s *runs) expect(r *run, actions []schema.AgentAction) []schema.AgentAction {
	out := append([]schema.AgentAction(nil), actions...)
	s.mu.Lock()
	defer s.mu.Unlock()
	var calls []core.ToolCall
	if n := len(r.responses); n > 0 && r.responses[n-1].at == len(r.steps) {
		calls = r.responses[n-1].calls
	}
	for i := range out {
		a := &out[i]
		a.ToolInput = strings.Clone(a.ToolInput)
		w := &waiting{run: r, input: a.ToolInput, call: core.ToolCall{ID: a.ToolID, Name: a.Tool, Arguments: a.ToolInput}}
		if i < len(calls) && calls[i].ID == a.ToolID && calls[i].Name == a.Tool {
			w.call = calls[i]
		}
		r.waiting = append(r.waiting, w)
		if a.ToolInput != "" {
			s.byInput[unsafe.StringData(a.ToolInput)] = w
		}
	}
	return out
}

// take finds the call that a tool was asked to answer, once. An input that is
// not one of ours (an empty one, or one that a decorator of the host copied) is
// looked up by its value, among the Calls of the same session or, without one,
// the anonymous Calls, the oldest first.
func (s *runs) take(ctx context.Context, name, input string) (*run, core.ToolCall, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if input != "" {
		w := s.byInput[unsafe.StringData(input)]
		if w != nil && !w.taken && strings.EqualFold(w.call.Name, name) && strings.HasPrefix(w.input, input) {
			w.taken = true
			return w.run, w.call, true
		}
	}
	session, named := satchel.SessionID(ctx)
	for e := s.order.Front(); e != nil; e = e.Next() {
		r, ok := e.Value.(*run)
		if !ok || named == r.anonymous || named && r.key.Session != session {
			continue
		}
		for _, w := range r.waiting {
			if !w.taken && strings.EqualFold(w.call.Name, name) && strings.TrimSuffix(w.input, observationSuffix) == input {
				w.taken = true
				return r, w.call, true
			}
		}
	}
	return nil, core.ToolCall{}, false
}

// observationSuffix is what executors cut from an input.
const observationSuffix = "\nObservation:"

// leave ends a run, and its session when no one else can name it.
func (s *runs) leave(ctx context.Context, r *run) error {
	s.mu.Lock()
	if r.place == nil {
		s.mu.Unlock()
		return nil
	}
	s.order.Remove(r.place)
	r.place = nil
	if r.inputs != nil {
		delete(s.byInputs, reflect.ValueOf(r.inputs).Pointer())
	}
	left := s.settle(r)
	s.mu.Unlock()
	for _, call := range left {
		s.runtime.Finished(r.key, call)
	}
	if !r.anonymous {
		return nil
	}
	return s.runtime.EndSession(context.WithoutCancel(ctx), r.key.Session)
}

// settle forgets the calls that were handed out, and returns those that no
// tool took.
func (s *runs) settle(r *run) (left []core.ToolCall) {
	for _, w := range r.waiting {
		if w.input != "" {
			delete(s.byInput, unsafe.StringData(w.input))
		}
		if !w.taken {
			left = append(left, w.call)
		}
	}
	r.waiting = nil
	return left
}
