package measure

import (
	"regexp"
	"slices"

	"github.com/satchel-go/satchel/satcheltest"
)

// Exchange is one model call: its request and its response.
type Exchange struct {
	Request  satcheltest.Request
	Response satcheltest.Response
}

// Log wraps a script and records its exchanges.
type Log struct {
	script    satcheltest.Script
	exchanges []Exchange
}

// NewLog returns a log of the exchanges of a script.
func NewLog(script satcheltest.Script) *Log { return &Log{script: script} }

// Answer is the script to give to a server.
func (l *Log) Answer(r satcheltest.Request) satcheltest.Response {
	resp := l.script(r)
	l.exchanges = append(l.exchanges, Exchange{r, resp})
	return resp
}

// Exchanges are the model calls so far. Call it when the server is closed.
func (l *Log) Exchanges() []Exchange { return l.exchanges }

// bytesPerToken is an estimate. A tokenizer would add megabytes to the program and
// still fit only some models.
const bytesPerToken = 4

// Totals sums up the exchanges of one framework.
type Totals struct {
	Calls int
	// Tokens counts what was sent. Repeated counts those tokens that stood at the same
	// place in the request before, which a prompt cache can serve. Both are estimates.
	Tokens, Repeated int
	// Loaded are the skills and docs whose text was sent, in order of their
	// first appearance.
	Loaded []string
}

// Sum computes the totals.
func Sum(exchanges []Exchange) Totals {
	t := Totals{Calls: len(exchanges)}
	var before []byte
	for _, e := range exchanges {
		prompt := e.Request.Prompt()
		t.Tokens += len(prompt) / bytesPerToken
		t.Repeated += sharedPrefix(before, prompt) / bytesPerToken
		before = prompt
		for _, m := range e.Request.Messages {
			for _, found := range contents(m.Text) {
				if !slices.Contains(t.Loaded, found.name) {
					t.Loaded = append(t.Loaded, found.name)
				}
			}
		}
	}
	return t
}

// Differ returns the number of the first model call, from 1, in which the messages
// or the tools of two frameworks differ; 0 if they never do.
func Differ(a, b []Exchange) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || string(a[i].Request.Prompt()) != string(b[i].Request.Prompt()) {
			return i + 1
		}
	}
	return 0
}

// content is the text of a skill or a doc in a message.
type content struct {
	name  string
	bytes int
}

// listedSkill is a line of the overview, in both forms.
var listedSkill = regexp.MustCompile(`(?m)^(<skill>)?<name>.*$`)

// contentBlock matches the text of a skill or a doc in a message. It is only for printing the demo.
var contentBlock = regexp.MustCompile(`(?s)<skill name="([^"]*)">\n(.*?)\n</skill>|<skill_doc skill="([^"]*)" path="([^"]*)">\n(.*?)\n</skill_doc>`)

func contents(text string) []content {
	var found []content
	for _, m := range contentBlock.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			found = append(found, content{m[1], len(m[2])})
			continue
		}
		found = append(found, content{m[3] + "/" + m[4], len(m[5])})
	}
	return found
}

// sharedPrefix returns the length of the longest common prefix of a and b in bytes.
func sharedPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
