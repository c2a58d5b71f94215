package state

import (
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
)

// Agent holds the state of one agent in one session that a runtime keeps in memory. Most of it
// can be restored from the agent's record. Two things cannot: which calls of the last response
// wait for others, and the files that users attached.
type Agent struct {
	mu sync.Mutex
	// content is the rendered text of the deliveries of rec.
	rec     *Record
	content *Content
	// user is the last user message that MarkText hashed, and hash its hash.
	user, hash string
	// isAnswered reports that the model has answered without a call since the turn began.
	isAnswered bool
	// isAbandoned reports that the previous turn ended without an answer, and that
	// WasAbandoned has not reported it yet.
	isAbandoned bool
	// hidden are the deliveries whose content the last request left out.
	hidden []DeliveryKey
	// response is the last response, nil if this process has seen none. isClean
	// reports that the record is known to hold no calls of an earlier response.
	response *Response
	isClean  bool
	// results are the ids of the calls of the turn whose results the last request
	// held. They are only set if the runner runs commands at most once.
	results []string
	// run identifies the framework's run of the latest request that had one, by a weak pointer.
	run any
	// turn is the number of the user turn of the last request, 0 before the first.
	turn int
	// modelCalls and isSubagent are those of the record, for a tracer. modelCalls also counts the calls
	// whose numbers are not in the record.
	modelCalls int
	isSubagent bool
	// reserved is the number that the record has for the call that follows, 0 if it has none.
	reserved int
	// responses is the number within its turn of the response to the last request, 0 before
	// the first request.
	responses int
	// tools are the names of the tools that the last request offered.
	tools []string
	// files are the attached files of the last request.
	files []core.File
	// searchHits are the skills that searches have returned.
	searchHits map[string]bool
	// knowsPlaces reports that this process has looked for the loaded skills by their texts.
	knowsPlaces bool
	// shownBodies are the deliveries whose bodies requests have contained.
	shownBodies map[DeliveryKey]bool
	// reads counts the text of skill files in the conversation.
	reads reads
	// skills is the catalog that the agent sees, nil until it is computed.
	skills *catalog.Catalog
	// overview is the snapshot of the last NoteOverview, and offered the value of the last
	// NoteOffered.
	overview *catalog.Snapshot
	offered  Offered
}

// NoteFound notes the skills that a search has returned.
func (a *Agent) NoteFound(names []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.searchHits == nil || len(a.searchHits) > maxNamed {
		a.searchHits = make(map[string]bool)
	}
	for _, name := range names {
		a.searchHits[name] = true
	}
}

// KnowsPlaces reports whether the agent's loaded skills were looked for by their texts in this
// process. The first call returns false, later ones true.
func (a *Agent) KnowsPlaces() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.knowsPlaces
	a.knowsPlaces = true
	return was
}

// FoundBy returns where the model saw a skill: "search" or "list".
func (a *Agent) FoundBy(skill string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.searchHits[skill] {
		return "search"
	}
	return "list"
}

// ExecutingEvents returns an event for each body that a request contains for the first time.
// hidden are the deliveries of rec that the request leaves out.
func (a *Agent) ExecutingEvents(rec *Record, hidden []DeliveryKey) (events []core.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		key := d.Key()
		if !d.Body || d.Old || d.Turn != rec.Turn || a.shownBodies[key] || slices.Contains(hidden, key) {
			continue
		}
		if a.shownBodies == nil || len(a.shownBodies) > maxNamed {
			a.shownBodies = make(map[DeliveryKey]bool)
		}
		a.shownBodies[key] = true
		events = append(events, core.Event{Kind: core.SkillExecuting, Key: rec.Key, Skill: d.Skill, Digest: d.Digest})
	}
	return events
}

// SetSkills sets the catalog that the agent sees.
func (a *Agent) SetSkills(skills *catalog.Catalog) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.skills = skills
}

// Skills returns the catalog that the agent sees, nil until it is computed.
func (a *Agent) Skills() *catalog.Catalog {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.skills
}

// Content returns the rendered deliveries of rec. It renders them only if they have changed
// since the last call. text returns the pinned text of a digest.
func (a *Agent) Content(rec *Record, text func(string) (string, error)) (*Content, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.content != nil && (a.rec == rec || slices.EqualFunc(a.rec.Deliveries, rec.Deliveries, rendersSame)) {
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

// rendersSame reports whether two deliveries render to the same text.
func rendersSame(a, b Delivery) bool {
	return a.Call == b.Call && a.Skill == b.Skill && a.Digest == b.Digest && a.Body == b.Body &&
		a.Supersedes == b.Supersedes && a.Rendered == b.Rendered && a.Listing == b.Listing && slices.Equal(a.Docs, b.Docs)
}

// LastRecord returns the record of the last call of Content, nil if there was none.
func (a *Agent) LastRecord() *Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rec
}

// MarkText is [MarkText] with a cache for the last text.
func (a *Agent) MarkText(text string) string {
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
	return a.isAnswered
}

// BeginTurn notes that a user turn has begun.
func (a *Agent) BeginTurn() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isAbandoned, a.isAnswered = !a.isAnswered, false
}

// WasAbandoned reports whether the previous turn ended without an answer. It reports true only
// once for each such turn.
func (a *Agent) WasAbandoned() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.isAbandoned
	a.isAbandoned = false
	return was
}

// NoteRun notes the framework's run to which a request belongs, and reports whether it differs
// from the last one. It ignores nil.
func (a *Agent) NoteRun(run any) (isNew bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	isNew = run != nil && run != a.run
	if isNew {
		a.run = run
	}
	return isNew
}

// BeginAgain discards the state of an earlier attempt of the turn.
func (a *Agent) BeginAgain() {
	a.SetResponse(nil, 1, true)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shownBodies, a.isAbandoned = nil, true
}

// SetTurn sets the number of the user turn, and that of the last model call.
func (a *Agent) SetTurn(rec *Record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.setTurn(rec)
}

// ReserveCall is SetTurn for a record with which this process begins a turn. The record has the number of the call
// that follows.
func (a *Agent) ReserveCall(rec *Record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reserved = rec.Traced.Calls
	a.setTurn(rec)
}

// setTurn implements SetTurn. The caller holds a.mu.
func (a *Agent) setTurn(rec *Record) {
	a.turn, a.isSubagent = rec.Turn, rec.Traced.IsSubagent
	made := rec.Traced.Calls
	if made > 0 && made == a.reserved {
		made--
	} else {
		a.reserved = 0
	}
	a.modelCalls = max(a.modelCalls, made)
}

func (a *Agent) turnNumber() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.turn
}

// NextCall returns the number of the next model call, for a record with which a turn begins. rec is the record
// before it.
func (a *Agent) NextCall(rec *Record) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reserved > 0 && a.reserved == rec.Traced.Calls { // the request was never sent
		return a.reserved
	}
	return max(rec.Traced.Calls, a.modelCalls) + 1
}

// NoteRequest notes how many responses of the turn a request contains.
func (a *Agent) NoteRequest(scan *Scan) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.responses = scan.Responses + 1
}

// ResponseNumber returns the number within its turn of the response to the last request, 0
// if this process has seen no request.
func (a *Agent) ResponseNumber() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.responses
}

// SetHidden sets the deliveries whose content the request leaves out.
func (a *Agent) SetHidden(hidden []DeliveryKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hidden = hidden
}

// IsHidden reports whether the last request left out the content of a delivery.
func (a *Agent) IsHidden(d *Delivery) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.hidden, d.Key())
}

// SetTools sets the names of the tools that the request offers.
func (a *Agent) SetTools(tools []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tools = tools
}

// Tools returns the names of the tools that the last request offered.
func (a *Agent) Tools() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tools
}

// LastResponse returns the last response, nil if this process has seen none.
func (a *Agent) LastResponse() *Response {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.response
}

// SetResponse replaces the last response. calls is how many calls the new one has, and clean
// reports that the record holds no calls of earlier responses.
func (a *Agent) SetResponse(r *Response, calls int, clean bool) {
	a.mu.Lock()
	old := a.response
	a.response, a.isClean, a.isAnswered = r, clean, calls == 0
	a.mu.Unlock()
	old.Drop()
}

// NoteResults notes which calls of the turn have their results in the request.
func (a *Agent) NoteResults(scan *Scan) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.results = a.results[:0]
	for _, m := range scan.Messages[scan.Last+1:] {
		if m.Role == core.ToolResult {
			a.results = append(a.results, m.CallID)
		}
	}
}

// HasResult reports whether the last request contained the result of one of the calls. It also
// reports true if a call has no id. If it reports false, a response with the same calls repeats
// the last response, which the host has lost.
func (a *Agent) HasResult(calls []core.ToolCall) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(calls, func(c core.ToolCall) bool { return c.ID == "" || slices.Contains(a.results, c.ID) })
}

// Recall returns the last response. If this process has seen none, it restores the response
// from the record.
func (a *Agent) Recall(rec *Record) *Response {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.response == nil {
		a.response = RecallResponse(rec, time.After)
	}
	return a.response
}

// NoteRecord notes whether rec, as loaded from the store, holds calls of an earlier response.
func (a *Agent) NoteRecord(rec *Record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isClean = len(rec.Unnumbered) == 0
}

// IsClean reports whether the record is known to hold no calls of an earlier response. Such
// calls could be mistaken for calls of a later response.
func (a *Agent) IsClean() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.isClean
}

// Files returns the attached files of the last request. Callers must not change them.
func (a *Agent) Files() []core.File {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.files
}

func (a *Agent) attach(files []core.File) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files = files
}
