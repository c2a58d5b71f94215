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

// run is the state of one Call of an executor.
type run struct {
	key          core.SessionKey
	isAnonymous  bool
	inputs       map[string]string // identifies the Call by its address, which stays valid while the map is kept
	turn         *adapter.Turn
	earlierTurns []llms.MessageContent
	text         *textView // set for an agent that works in text

	// The rest is guarded by runs.mu.
	question       string
	steps          []schema.AgentStep // of the present Plan
	responses      []response
	lastTranscript []llms.MessageContent // the result of the last transcript
	pending        []*pendingCall
}

// pendingCall is a call that an executor has got and may still execute.
type pendingCall struct {
	run     *run
	call    core.ToolCall
	input   string // the executor passes this string to the tool
	isTaken bool
}

// runs holds the Calls that have not ended.
type runs struct {
	runtime *satchel.Runtime
	agent   string

	mu       sync.Mutex
	byInputs map[uintptr]*run
	byInput  map[*byte]*pendingCall
	live     *lru.Cache[*run, struct{}]
	evicted  []*run // removed from live, but not ended yet
}

func newRuns(rt *satchel.Runtime, agent string) *runs {
	s := &runs{runtime: rt, agent: agent, byInputs: map[uintptr]*run{}, byInput: map[*byte]*pendingCall{}}
	s.live = lru.New(maxRuns, func(r *run, _ struct{}) { s.evicted = append(s.evicted, r) })
	return s
}

// enter returns the run of the Call that a Plan with these inputs belongs to, and whether the
// run is new. An executor passes the same map to every Plan of a Call. Nil inputs identify no
// Call, so each such Plan gets a new run.
func (s *runs) enter(ctx context.Context, inputs map[string]string) (_ *run, isNew bool) {
	address := reflect.ValueOf(inputs).Pointer()
	s.mu.Lock()
	r := s.byInputs[address]
	if r != nil {
		s.live.Get(r)
	}
	s.mu.Unlock()
	if r != nil {
		return r, false
	}

	r = s.newRun(ctx, inputs)
	s.mu.Lock()
	s.live.Put(r, struct{}{}, 1)
	if inputs != nil {
		s.byInputs[address] = r
	}
	evicted := s.evicted
	s.evicted = nil
	s.mu.Unlock()
	for _, oldest := range evicted {
		_ = s.end(ctx, oldest) // the error is not one of the new run
	}
	return r, true
}

// newRun returns a run with its session and its turn.
func (s *runs) newRun(ctx context.Context, inputs map[string]string) *run {
	r := &run{inputs: inputs}
	if key, ok := adapter.SessionOf(ctx, s.agent); ok {
		r.key = adapter.NestedKey(ctx, key)
	} else {
		r.key, r.isAnonymous = s.runtime.Hooks().Anonymous(s.agent), true
	}
	if r.turn = adapter.TurnOf(ctx); r.turn == nil {
		r.turn = adapter.TurnOf(satchel.BeginTurn(ctx, ""))
	}
	return r
}

// beginPlan records the steps that a Plan got. It forgets responses without steps: the executor
// did nothing with them and repeats the Plan. It closes calls that the executor passed to no
// tool, such as those of unknown tools.
func (s *runs) beginPlan(ctx context.Context, r *run, steps []schema.AgentStep) error {
	s.mu.Lock()
	r.steps = steps
	n := len(r.responses)
	for n > 0 && r.responses[n-1].stepsBefore >= len(steps) {
		n--
	}
	r.responses = r.responses[:n]
	untaken := s.forgetPending(r)
	s.mu.Unlock()
	return s.closeCalls(ctx, r.key, untaken)
}

// closeCalls opens and closes calls that the executor passed to no tool, so that other calls do
// not wait for them.
func (s *runs) closeCalls(ctx context.Context, key core.SessionKey, calls []core.ToolCall) error {
	for _, toolCall := range calls {
		call, err := s.runtime.Agent(key).Open(ctx, toolCall)
		if err != nil {
			return err
		}
		call.Close()
	}
	return nil
}

// setQuestion records the user's message to an agent that works in text.
func (s *runs) setQuestion(r *run, question string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.question = question
}

// addResponse records a response of the model to the present Plan.
func (s *runs) addResponse(r *run, question string, calls []core.ToolCall, message llms.MessageContent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.question = question
	if n := len(r.responses); n > 0 && r.responses[n-1].stepsBefore == len(r.steps) {
		r.responses = r.responses[:n-1]
	}
	r.responses = append(r.responses, response{stepsBefore: len(r.steps), calls: calls, message: message})
}

// transcript returns the messages of the Call so far and the number of its steps. The messages
// are nil if the recorded responses do not match the steps.
func (s *runs) transcript(r *run) ([]llms.MessageContent, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.transcript(), len(r.steps)
}

// handOut prepares the actions of a Plan for the executor. It copies each input to a string
// with memory of its own, which the executor passes on unchanged. So the tool that gets the
// string can find its call, even if another Call has an equal input.
func (s *runs) handOut(r *run, actions []schema.AgentAction) []schema.AgentAction {
	out := slices.Clone(actions)
	s.mu.Lock()
	defer s.mu.Unlock()
	var calls []core.ToolCall
	if n := len(r.responses); n > 0 && r.responses[n-1].stepsBefore == len(r.steps) {
		calls = r.responses[n-1].calls
	}
	for i := range out {
		a := &out[i]
		a.ToolInput = strings.Clone(a.ToolInput)
		w := &pendingCall{run: r, input: a.ToolInput, call: core.ToolCall{ID: a.ToolID, Name: a.Tool, Arguments: a.ToolInput}}
		if i < len(calls) && calls[i].ID == a.ToolID && calls[i].Name == a.Tool {
			w.call = calls[i]
		}
		r.pending = append(r.pending, w)
		if a.ToolInput != "" {
			s.byInput[unsafe.StringData(a.ToolInput)] = w
		}
	}
	return out
}

// takeCall finds the call that a tool has to answer, by the memory of its input. Each call is
// found once. An empty input has no memory, and a decorator of the host may have copied an
// input. takeCall looks such inputs up by value, the oldest first. It searches the Calls of the
// session in ctx or, without a session, the anonymous Calls.
func (s *runs) takeCall(ctx context.Context, name, input string) (*run, core.ToolCall, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if input != "" {
		w := s.byInput[unsafe.StringData(input)]
		if w != nil && !w.isTaken && strings.EqualFold(w.call.Name, name) && strings.HasPrefix(w.input, input) {
			w.isTaken = true
			return w.run, w.call, true
		}
	}
	session, isNamed := satchel.SessionID(ctx)
	var candidates []*run
	for r := range s.live.All() {
		if isNamed != r.isAnonymous && (!isNamed || r.key.Session == session) {
			candidates = append(candidates, r)
		}
	}
	for _, r := range slices.Backward(candidates) {
		for _, w := range r.pending {
			if !w.isTaken && strings.EqualFold(w.call.Name, name) && strings.TrimSuffix(w.input, observationSuffix) == input {
				w.isTaken = true
				return r, w.call, true
			}
		}
	}
	return nil, core.ToolCall{}, false
}

// observationSuffix is the end of an input that executors cut off.
const observationSuffix = "\nObservation:"

// leave ends a run, unless it has ended already. An anonymous session ends with it.
func (s *runs) leave(ctx context.Context, r *run) error {
	s.mu.Lock()
	isLive := s.live.Remove(r)
	s.mu.Unlock()
	if !isLive {
		return nil
	}
	return s.end(ctx, r)
}

// end ends a run that has been removed from live.
func (s *runs) end(ctx context.Context, r *run) error {
	s.mu.Lock()
	if r.inputs != nil {
		delete(s.byInputs, reflect.ValueOf(r.inputs).Pointer())
	}
	untaken := s.forgetPending(r)
	s.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	err := s.closeCalls(ctx, r.key, untaken)
	if r.isAnonymous {
		err = errors.Join(err, s.runtime.Hooks().EndAnonymous(ctx, r.key))
	}
	return err
}

// close ends all runs that have not ended.
func (s *runs) close(ctx context.Context) error {
	s.mu.Lock()
	remaining := s.evicted
	s.evicted = nil
	for r := range s.live.All() {
		remaining = append(remaining, r)
		s.live.Remove(r)
	}
	s.mu.Unlock()
	var errs []error
	for _, r := range remaining {
		errs = append(errs, s.end(ctx, r))
	}
	return errors.Join(errs...)
}

// forgetPending removes the pending calls of a run, and returns those that no tool has taken.
func (s *runs) forgetPending(r *run) (untaken []core.ToolCall) {
	for _, w := range r.pending {
		if w.input != "" {
			delete(s.byInput, unsafe.StringData(w.input))
		}
		if !w.isTaken {
			untaken = append(untaken, w.call)
		}
	}
	r.pending = nil
	return untaken
}
