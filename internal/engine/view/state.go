package view

import (
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
)

// State is what a runtime keeps in memory of one agent in one session:
// nothing that the record does not hold too, except who waits for whom in the
// last response, and the files that users attached.
type State struct {
	mu sync.Mutex
	// content is what was rendered from the deliveries of rec.
	rec     *state.Record
	content *steps.Content
	// user is the user message that was hashed last, and hash its hash.
	user, hash string
	// answered: the model has answered without a call since the turn began.
	answered bool
	// left: the turn before was left without an answer, and no request came since.
	left bool
	// hidden are the deliveries whose content the last request left out.
	hidden []state.DeliveryKey
	// response is the last response, nil where this process has seen none. clean
	// says that the record is known to hold no calls of an earlier response.
	response *state.Response
	clean    bool
	// results are the ids of the calls of the turn whose results the last request
	// held. They are noted only with Runner.Once.
	results []string
	// run is that of the last request that said so, a weak pointer.
	run any
	// turn is the number of the user turn of the last request, 0 where there was none.
	turn int
	// responses is the number in that turn of the response to the last request, 0 where
	// there was none.
	responses int
	// tools are the names of those that the last request offered.
	tools []string
	// files are those of the last request.
	files []core.File
	// named are skills that a search has named, and executing the deliveries whose bodies
	// a request has contained.
	named     map[string]bool
	executing map[deliveryKey]bool
	// reads are the files of skills that were read.
	reads reads
	// seen is the catalog that the agent sees, nil until it is computed.
	seen *catalog.Catalog
}

// maxNamed bounds what is remembered of an agent's searches and deliveries.
const maxNamed = 1000

type deliveryKey struct {
	call  int
	skill string
}

// Found notes the skills that a search has named.
func (s *State) Found(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named == nil || len(s.named) > maxNamed {
		s.named = make(map[string]bool)
	}
	for _, name := range names {
		s.named[name] = true
	}
}

// FoundBy says how the model came to know of a skill: by a search or by the list.
func (s *State) FoundBy(skill string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named[skill] {
		return "search"
	}
	return "list"
}

// Executing returns the events of the bodies that a request, which leaves out the hidden
// deliveries of rec, contains for the first time.
func (s *State) Executing(rec *state.Record, hidden []state.DeliveryKey) (events []core.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		key := deliveryKey{d.Call, d.Skill}
		if !d.Body || d.Old || d.Turn != rec.Turn || s.executing[key] || slices.Contains(hidden, d.Key()) {
			continue
		}
		if s.executing == nil || len(s.executing) > maxNamed {
			s.executing = make(map[deliveryKey]bool)
		}
		s.executing[key] = true
		events = append(events, core.Event{Kind: core.SkillExecuting, Key: rec.Key, Skill: d.Skill, Digest: d.Digest})
	}
	return events
}

// see notes the catalog that the agent sees.
func (s *State) see(skills *catalog.Catalog) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = skills
}

// skills returns the catalog that the agent sees, nil until it is computed.
func (s *State) skills() *catalog.Catalog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// Shown returns the rendered content of rec. It renders only if the deliveries
// have changed.
func (s *State) Shown(rec *state.Record, text func(string) (string, error)) (*steps.Content, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.content != nil && (s.rec == rec || slices.EqualFunc(s.rec.Deliveries, rec.Deliveries, sameDelivery)) {
		s.rec = rec
		return s.content, nil
	}
	c, err := steps.NewContent(rec, text)
	if err != nil {
		return nil, err
	}
	s.rec, s.content = rec, c
	return c, nil
}

// sameDelivery reports whether two deliveries render to the same text.
func sameDelivery(a, b state.Delivery) bool {
	return a.Call == b.Call && a.Skill == b.Skill && a.Digest == b.Digest && a.Body == b.Body &&
		a.Supersedes == b.Supersedes && a.Listing == b.Listing && slices.Equal(a.Docs, b.Docs)
}

// LastRecord returns the record whose content was rendered last, nil where this
// process has rendered none.
func (s *State) LastRecord() *state.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec
}

// Mark returns the hash of a user message. It computes the hash once while the
// message stays the same.
func (s *State) Mark(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hash == "" || s.user != text {
		s.user, s.hash = text, state.MarkText(text)
	}
	return s.hash
}

// IsAnswered reports whether the model has answered without a call since the turn began.
func (s *State) IsAnswered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered
}

// BeginTurn notes that a user turn has begun.
func (s *State) BeginTurn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.answered = !s.answered, false
}

// WasLeft reports, once, whether the turn before was left without an answer.
func (s *State) WasLeft() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.left
	s.left = false
	return left
}

// Enter notes the run of a request, and reports whether it is another one than that of
// the last. Runs are compared; nil says nothing.
func (s *State) Enter(run any) (entered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entered = run != nil && run != s.run
	if entered {
		s.run = run
	}
	return entered
}

// BeginAgain forgets what an earlier attempt of the turn has left.
func (s *State) BeginAgain() {
	s.Respond(nil, 1, true)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.executing, s.left = nil, true
}

// InTurn notes the number of the user turn.
func (s *State) InTurn(turn int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = turn
}

func (s *State) turnNumber() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}

// Request notes how many responses of the turn a request holds.
func (s *State) Request(scan *state.Scan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.responses = scan.Responses + 1
}

// ResponseNumber returns the number in its turn of the response to the last request, 0
// where this process has seen none.
func (s *State) ResponseNumber() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.responses
}

// Hide notes the deliveries whose content a request leaves out.
func (s *State) Hide(these []state.DeliveryKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden = these
}

// IsHidden reports whether the last request left out the content of a delivery.
func (s *State) IsHidden(d *state.Delivery) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.hidden, d.Key())
}

// Offer notes the tools that a request offers.
func (s *State) Offer(tools []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = tools
}

// Offered returns the names of the tools that the last request offered.
func (s *State) Offered() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

// LastResponse returns the last response, nil where this process has seen none.
func (s *State) LastResponse() *state.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.response
}

// Respond replaces the last response by a new one. clean says that the record
// holds no calls of earlier responses.
func (s *State) Respond(r *state.Response, calls int, clean bool) {
	s.mu.Lock()
	old := s.response
	s.response, s.clean, s.answered = r, clean, calls == 0
	s.mu.Unlock()
	old.Drop()
}

// Holds notes the results of the turn's calls that a request holds.
func (s *State) Holds(scan *state.Scan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results = s.results[:0]
	for _, m := range scan.Messages[scan.Last+1:] {
		if m.Role == core.ToolResult {
			s.results = append(s.results, m.CallID)
		}
	}
}

// WereAnswered reports whether the last request held the result of one of the
// calls, or whether that cannot be said because a call has no id. If not, a response
// like the last one is that response, made again because it was lost.
func (s *State) WereAnswered(calls []core.ToolCall) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(calls, func(c core.ToolCall) bool { return c.ID == "" || slices.Contains(s.results, c.ID) })
}

// Recall returns the last response. Where this process has seen none, it restores
// the response from the record.
func (s *State) Recall(rec *state.Record) *state.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.response == nil {
		s.response = state.RecallResponse(rec, time.After)
	}
	return s.response
}

// Saw notes whether a record that was loaded holds calls of an earlier response.
func (s *State) Saw(rec *state.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clean = len(rec.Unnumbered) == 0
}

// IsClean reports whether the record is known to hold no calls of an earlier
// response, which must not be mistaken for calls of a later one.
func (s *State) IsClean() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clean
}

// Attached are the files of the last request; they must not be changed.
func (s *State) Attached() []core.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files
}

func (s *State) attach(files []core.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = files
}
