package satchel

import (
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/response"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// agentState is what a runtime keeps in memory of one agent in one session:
// nothing that the record does not hold too, except who waits for whom in the
// last response, and the files that users attached.
type agentState struct {
	mu sync.Mutex
	// content is what was rendered from the deliveries of rec.
	rec     *session.Record
	content *processors.Content
	// user is the user message that was hashed last, and hash its hash.
	user, hash string
	// answered: the model has answered without a call since the turn began.
	answered bool
	// hidden are the deliveries whose content the last request left out.
	hidden []session.DeliveryKey
	// response is the last response, nil where this process has seen none. clean
	// says that the record is known to hold no calls of an earlier response.
	response *response.Response
	clean    bool
	// results are the ids of the calls of the turn whose results the last request
	// held. They are noted only with WithOnce.
	results []string
	// turn is the number of the user turn of the last request, 0 where there was none.
	turn int
	// tools are the names of those that the last request offered.
	tools []string
	// files are those of the last request.
	files []core.File
	// named are skills that a search has named, and executing the deliveries whose bodies
	// a request has contained.
	named     map[string]bool
	executing map[deliveryKey]bool
	// seen is the catalog that the agent sees, nil where nobody was asked yet.
	seen *catalog.Catalog
}

// maxNamed bounds what is remembered of an agent's searches and deliveries.
const maxNamed = 1000

type deliveryKey struct {
	call  int
	skill string
}

// found notes the skills that a search has named.
func (s *agentState) found(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named == nil || len(s.named) > maxNamed {
		s.named = make(map[string]bool)
	}
	for _, name := range names {
		s.named[name] = true
	}
}

// foundBy says how the model came to know of a skill: by a search or by the list.
func (s *agentState) foundBy(skill string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.named[skill] {
		return "search"
	}
	return "list"
}

// beginsExecuting notes that a request contains the body of a delivery, and reports
// whether it is the first one.
func (s *agentState) beginsExecuting(call int, skill string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := deliveryKey{call, skill}
	if s.executing[key] {
		return false
	}
	if s.executing == nil || len(s.executing) > maxNamed {
		s.executing = make(map[deliveryKey]bool)
	}
	s.executing[key] = true
	return true
}

// see notes the catalog that the agent sees.
func (s *agentState) see(skills *catalog.Catalog) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = skills
}

func (s *agentState) skills() *catalog.Catalog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// shown returns the rendered content of rec. It renders only if the deliveries
// have changed.
func (s *agentState) shown(rec *session.Record, text func(string) (string, error)) (*processors.Content, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.content != nil && (s.rec == rec || slices.EqualFunc(s.rec.Deliveries, rec.Deliveries, sameDelivery)) {
		s.rec = rec
		return s.content, nil
	}
	c, err := processors.NewContent(rec, text)
	if err != nil {
		return nil, err
	}
	s.rec, s.content = rec, c
	return c, nil
}

// sameDelivery reports whether two deliveries render to the same text.
func sameDelivery(a, b session.Delivery) bool {
	return a.Call == b.Call && a.Skill == b.Skill && a.Digest == b.Digest && a.Body == b.Body &&
		a.Supersedes == b.Supersedes && a.Listing == b.Listing && slices.Equal(a.Docs, b.Docs)
}

// lastRecord returns the record whose content was rendered last, nil where this
// process has rendered none.
func (s *agentState) lastRecord() *session.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec
}

// mark returns the hash of a user message. It computes the hash once while the
// message stays the same.
func (s *agentState) mark(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hash == "" || s.user != text {
		s.user, s.hash = text, session.MarkText(text)
	}
	return s.hash
}

func (s *agentState) isAnswered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered
}

// beginTurn notes that a user turn has begun.
func (s *agentState) beginTurn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered = false
}

// inTurn notes the number of the user turn.
func (s *agentState) inTurn(turn int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = turn
}

func (s *agentState) turnNumber() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn
}

// hide notes the deliveries whose content a request leaves out.
func (s *agentState) hide(these []session.DeliveryKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden = these
}

func (s *agentState) isHidden(d *session.Delivery) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.hidden, d.Key())
}

// offer notes the tools that a request offers.
func (s *agentState) offer(tools []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = tools
}

func (s *agentState) offered() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

// lastResponse returns the last response, nil where this process has seen none.
func (s *agentState) lastResponse() *response.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.response
}

// respond replaces the last response by a new one. clean says that the record
// holds no calls of earlier responses.
func (s *agentState) respond(r *response.Response, calls int, clean bool) {
	s.mu.Lock()
	old := s.response
	s.response, s.clean, s.answered = r, clean, calls == 0
	s.mu.Unlock()
	old.Drop()
}

// holds notes the results of the turn's calls that a request holds.
func (s *agentState) holds(messages []core.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results = s.results[:0]
	for _, m := range slices.Backward(messages) {
		switch {
		case m.Role == core.User && !m.Rewritten:
			return
		case m.Role == core.ToolResult:
			s.results = append(s.results, m.CallID)
		}
	}
}

// wereAnswered reports whether the last request held the result of one of the
// calls, or whether that cannot be said because a call has no id. If not, a response
// like the last one is that response, made again because it was lost.
func (s *agentState) wereAnswered(calls []core.ToolCall) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(calls, func(c core.ToolCall) bool { return c.ID == "" || slices.Contains(s.results, c.ID) })
}

// recall returns the last response. Where this process has seen none, it restores
// the response from the record.
func (s *agentState) recall(rec *session.Record) *response.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.response == nil {
		s.response = response.Recall(rec, time.After)
	}
	return s.response
}

// saw notes whether a record that was loaded holds calls of an earlier response.
func (s *agentState) saw(rec *session.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clean = len(rec.Unnumbered) == 0
}

// isClean reports whether the record is known to hold no calls of an earlier
// response, which must not be mistaken for calls of a later one.
func (s *agentState) isClean() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clean
}

// attached are the files of the last request; they must not be changed.
func (s *agentState) attached() []core.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files
}

func (s *agentState) attach(files []core.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = files
}
