package state

import (
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
)

// Agent is what a runtime keeps in memory of one agent in one session. The record holds all
// of it too, except two things: who waits for whom in the last response, and the files that
// users attached.
type Agent struct {
	mu sync.Mutex
	// content is what was rendered from the deliveries of rec.
	rec     *Record
	content *Content
	// user is the user message that was hashed last, and hash its hash.
	user, hash string
	// answered: the model has answered without a call since the turn began.
	answered bool
	// left: the turn before was left without an answer, and no request came since.
	left bool
	// hidden are the deliveries whose content the last request left out.
	hidden []DeliveryKey
	// response is the last response, nil where this process has seen none. clean
	// says that the record is known to hold no calls of an earlier response.
	response *Response
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
	named map[string]bool
	// loadedAs are the canonical ids of the skills that this process has loaded, by name.
	loadedAs  map[string]string
	executing map[DeliveryKey]bool
	// reads are the files of skills that were read.
	reads reads
	// seen is the catalog that the agent sees, nil until it is computed.
	seen *catalog.Catalog
}

// Found notes the skills that a search has named.
func (a *Agent) Found(names []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.named == nil || len(a.named) > maxNamed {
		a.named = make(map[string]bool)
	}
	for _, name := range names {
		a.named[name] = true
	}
}

// NoteLoaded notes the canonical id of a skill that was loaded by a name.
func (a *Agent) NoteLoaded(name, id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.loadedAs == nil || len(a.loadedAs) > maxNamed {
		a.loadedAs = make(map[string]string)
	}
	a.loadedAs[name] = id
}

// LoadedAs returns the canonical id of the skill that this process has loaded last by a name,
// "" for none.
func (a *Agent) LoadedAs(name string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.loadedAs[name]
}

// FoundBy says how the model came to know of a skill: by a search or by the list.
func (a *Agent) FoundBy(skill string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.named[skill] {
		return "search"
	}
	return "list"
}

// Executing returns the events of the bodies that a request, which leaves out the hidden
// deliveries of rec, contains for the first time.
func (a *Agent) Executing(rec *Record, hidden []DeliveryKey) (events []core.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		key := d.Key()
		if !d.Body || d.Old || d.Turn != rec.Turn || a.executing[key] || slices.Contains(hidden, key) {
			continue
		}
		if a.executing == nil || len(a.executing) > maxNamed {
			a.executing = make(map[DeliveryKey]bool)
		}
		a.executing[key] = true
		events = append(events, core.Event{Kind: core.SkillExecuting, Key: rec.Key, Skill: d.Skill, Digest: d.Digest})
	}
	return events
}

// See notes the catalog that the agent sees.
func (a *Agent) See(skills *catalog.Catalog) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = skills
}

// Skills returns the catalog that the agent sees, nil until it is computed.
func (a *Agent) Skills() *catalog.Catalog {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen
}

// Shown returns the rendered content of rec. It renders only if the deliveries
// have changed.
func (a *Agent) Shown(rec *Record, text func(string) (string, error)) (*Content, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.content != nil && (a.rec == rec || slices.EqualFunc(a.rec.Deliveries, rec.Deliveries, sameDelivery)) {
		a.rec = rec
		return a.content, nil
	}
	c, err := NewContent(rec, text)
	if err != nil {
		return nil, err
	}
	a.rec, a.content = rec, c
	return c, nil
}

// sameDelivery reports whether two deliveries render to the same text.
func sameDelivery(a, b Delivery) bool {
	return a.Call == b.Call && a.Skill == b.Skill && a.Digest == b.Digest && a.Body == b.Body &&
		a.Supersedes == b.Supersedes && a.Listing == b.Listing && slices.Equal(a.Docs, b.Docs)
}

// LastRecord returns the record whose content was rendered last, nil where this
// process has rendered none.
func (a *Agent) LastRecord() *Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rec
}

// Mark returns the hash of a user message. It computes the hash once while the
// message stays the same.
func (a *Agent) Mark(text string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hash == "" || a.user != text {
		a.user, a.hash = text, MarkText(text)
	}
	return a.hash
}

// IsAnswered reports whether the model has answered without a call since the turn began.
func (a *Agent) IsAnswered() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.answered
}

// BeginTurn notes that a user turn has begun.
func (a *Agent) BeginTurn() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left, a.answered = !a.answered, false
}

// WasLeft reports, once, whether the turn before was left without an answer.
func (a *Agent) WasLeft() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	left := a.left
	a.left = false
	return left
}

// Enter notes the run of a request, and reports whether it is another one than that of
// the last. Runs are compared; nil says nothing.
func (a *Agent) Enter(run any) (entered bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	entered = run != nil && run != a.run
	if entered {
		a.run = run
	}
	return entered
}

// BeginAgain forgets what an earlier attempt of the turn has left.
func (a *Agent) BeginAgain() {
	a.Respond(nil, 1, true)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.executing, a.left = nil, true
}

// InTurn notes the number of the user turn.
func (a *Agent) InTurn(turn int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn = turn
}

func (a *Agent) turnNumber() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.turn
}

// Request notes how many responses of the turn a request holds.
func (a *Agent) Request(scan *Scan) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.responses = scan.Responses + 1
}

// ResponseNumber returns the number in its turn of the response to the last request, 0
// where this process has seen none.
func (a *Agent) ResponseNumber() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.responses
}

// Hide notes the deliveries whose content a request leaves out.
func (a *Agent) Hide(these []DeliveryKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hidden = these
}

// IsHidden reports whether the last request left out the content of a delivery.
func (a *Agent) IsHidden(d *Delivery) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.hidden, d.Key())
}

// Offer notes the tools that a request offers.
func (a *Agent) Offer(tools []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tools = tools
}

// Offered returns the names of the tools that the last request offered.
func (a *Agent) Offered() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tools
}

// LastResponse returns the last response, nil where this process has seen none.
func (a *Agent) LastResponse() *Response {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.response
}

// Respond replaces the last response by a new one. clean says that the record
// holds no calls of earlier responses.
func (a *Agent) Respond(r *Response, calls int, clean bool) {
	a.mu.Lock()
	old := a.response
	a.response, a.clean, a.answered = r, clean, calls == 0
	a.mu.Unlock()
	old.Drop()
}

// Holds notes the results of the turn's calls that a request holds.
func (a *Agent) Holds(scan *Scan) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.results = a.results[:0]
	for _, m := range scan.Messages[scan.Last+1:] {
		if m.Role == core.ToolResult {
			a.results = append(a.results, m.CallID)
		}
	}
}

// WereAnswered reports whether the last request held the result of one of the
// calls, or whether that cannot be said because a call has no id. If not, a response
// like the last one is that response, made again because it was lost.
func (a *Agent) WereAnswered(calls []core.ToolCall) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(calls, func(c core.ToolCall) bool { return c.ID == "" || slices.Contains(a.results, c.ID) })
}

// Recall returns the last response. Where this process has seen none, it restores
// the response from the record.
func (a *Agent) Recall(rec *Record) *Response {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.response == nil {
		a.response = RecallResponse(rec, time.After)
	}
	return a.response
}

// NoteRecord notes whether a record that was loaded holds calls of an earlier response.
func (a *Agent) NoteRecord(rec *Record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clean = len(rec.Unnumbered) == 0
}

// IsClean reports whether the record is known to hold no calls of an earlier
// response, which must not be mistaken for calls of a later one.
func (a *Agent) IsClean() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.clean
}

// Attached are the files of the last request; they must not be changed.
func (a *Agent) Attached() []core.File {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.files
}

func (a *Agent) attach(files []core.File) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files = files
}
