package langchaingo

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
)

// run is what is known of one Call of an executor.
type run struct {
	key       core.SessionKey
	anonymous bool
	inputs    map[string]string // kept, so that its address stays its identity
	turn      *adapter.Turn
	earlier   []llms.MessageContent
	text      *textView // of an agent that works in text

	// The rest is guarded by runs.mu.
	question  string
	steps     []schema.AgentStep // of the present Plan
	responses []response
	told      []llms.MessageContent // the responses and steps that were reported
	waiting   []*waiting
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
	order    *lru.Cache[*run, struct{}]
	pushed   []*run // out of order, and still to be ended
}

func newRuns(rt *satchel.Runtime, agent string) *runs {
	s := &runs{runtime: rt, agent: agent, byInputs: map[uintptr]*run{}, byInput: map[*byte]*waiting{}}
	s.order = lru.New(maxRuns, func(r *run, _ struct{}) { s.pushed = append(s.pushed, r) })
	return s
}

// enter returns the run that a Plan with these inputs belongs to, and whether
// it has just begun. An executor passes one and the same map to every Plan of
// a Call. Inputs that are nil identify nothing: such a run is not found again.
func (s *runs) enter(ctx context.Context, inputs map[string]string) (_ *run, begun bool) {
	address := reflect.ValueOf(inputs).Pointer()
	s.mu.Lock()
	r := s.byInputs[address]
	if r != nil {
		s.order.Get(r)
	}
	s.mu.Unlock()
	if r != nil {
		return r, false
	}

	r = s.begin(ctx, inputs)
	s.mu.Lock()
	s.order.Put(r, struct{}{}, 1)
	if inputs != nil {
		s.byInputs[address] = r
	}
	pushed := s.pushed
	s.pushed = nil
	s.mu.Unlock()
	for _, oldest := range pushed {
		_ = s.end(ctx, oldest) // the run that begins is not at fault
	}
	return r, true
}

func (s *runs) begin(ctx context.Context, inputs map[string]string) *run {
	r := &run{inputs: inputs}
	if key, ok := adapter.SessionOf(ctx, s.agent); ok {
		r.key = adapter.NestedKey(ctx, key)
	} else {
		r.key, r.anonymous = s.runtime.Hooks().Anonymous(s.agent), true
	}
	if r.turn = adapter.TurnOf(ctx); r.turn == nil {
		r.turn = adapter.TurnOf(satchel.BeginTurn(ctx, ""))
	}
	return r
}

// plan notes the steps that a Plan was called with. It forgets responses that the
// steps do not contain: nothing was done with them, and the Plan is retried from the
// same steps. It ends calls that no tool was asked for, such as those of unknown
// tools.
func (s *runs) plan(ctx context.Context, r *run, steps []schema.AgentStep) error {
	s.mu.Lock()
	r.steps = steps
	n := len(r.responses)
	for n > 0 && r.responses[n-1].at >= len(steps) {
		n--
	}
	r.responses = r.responses[:n]
	left := s.settle(r)
	s.mu.Unlock()
	return s.drop(ctx, r.key, left)
}

// drop ends calls that no tool was asked for.
func (s *runs) drop(ctx context.Context, key core.SessionKey, calls []core.ToolCall) error {
	for _, made := range calls {
		call, err := s.runtime.Agent(key).Open(ctx, made)
		if err != nil {
			return err
		}
		call.Close()
	}
	return nil
}

// asks notes what the user of an agent that works in text has said.
func (s *runs) asks(r *run, question string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.question = question
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

// expect hands the actions of a Plan to the executor. Each input becomes a string of its own
// memory, which the executor passes on unchanged. So the tool that gets it knows which call it
// answers, even if another Call has the same input.
func (s *runs) expect(r *run, actions []schema.AgentAction) []schema.AgentAction {
	out := slices.Clone(actions)
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

// take finds the call that a tool was asked to answer, once. Some inputs are not among those
// handed out: empty ones, and copies that a decorator of the host made. take looks these up by
// value, the oldest first, among the Calls of the same session or, without a session, the
// anonymous Calls.
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
	var ours []*run
	for r := range s.order.All() {
		if named != r.anonymous && (!named || r.key.Session == session) {
			ours = append(ours, r)
		}
	}
	for _, r := range slices.Backward(ours) {
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
	here := s.order.Remove(r)
	s.mu.Unlock()
	if !here {
		return nil
	}
	return s.end(ctx, r)
}

// end ends a run that is out of order.
func (s *runs) end(ctx context.Context, r *run) error {
	s.mu.Lock()
	if r.inputs != nil {
		delete(s.byInputs, reflect.ValueOf(r.inputs).Pointer())
	}
	left := s.settle(r)
	s.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	err := s.drop(ctx, r.key, left)
	if r.anonymous {
		err = errors.Join(err, s.runtime.Hooks().EndAnonymous(ctx, r.key))
	}
	return err
}

// close ends all runs that have not ended.
func (s *runs) close(ctx context.Context) error {
	s.mu.Lock()
	left := s.pushed
	s.pushed = nil
	for r := range s.order.All() {
		left = append(left, r)
		s.order.Remove(r)
	}
	s.mu.Unlock()
	var errs []error
	for _, r := range left {
		errs = append(errs, s.end(ctx, r))
	}
	return errors.Join(errs...)
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
