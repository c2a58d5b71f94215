package main

import (
	"encoding/json"
	"strings"
	"sync"
)

// Policies of the scripted model.
const (
	// policyNeed asks for a text only if the request does not hold it.
	policyNeed = "need"
	// policyAgain asks for each text in each turn that uses it.
	policyAgain = "again"
	// policySections asks as policyNeed, and for sections of docs where the session names some.
	policySections = "sections"
	// policyNone uses no skills: its requests are what the agent costs without them.
	policyNone = "none"
)

// call is a tool call of the scripted model.
type call struct {
	tool string
	args map[string]any
}

// move is what the scripted model does with a request: calls, or the answer of the turn.
type move struct {
	calls []call
	say   string
	// turn counts from 0. runs is the number of commands of the host that came before in it.
	turn, runs int
	// isAside marks requests beside the conversation, such as for a title.
	isAside bool
}

// model plays one session. It is safe for concurrent use.
type model struct {
	session *Session
	policy  string
	agent   *agent
	place   *place

	mu               sync.Mutex
	turn, step, runs int
	asked            map[string]int // how often, in this step
}

func newModel(s *Session, policy string, a *agent, p *place) *model {
	return &model{session: s, policy: policy, agent: a, place: p, turn: -1}
}

// next answers a request. The turn is that of the last prompt of the session in the request.
func (m *model) next(request map[string]any) (move, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := textOf(request)
	turn := -1
	for i, t := range m.session.Turns {
		if strings.Contains(text, t.User) {
			turn = i
		}
	}
	tools, _ := request["tools"].([]any)
	if turn < 0 || len(tools) < m.agent.leastTools {
		return move{say: "ok", turn: turn, isAside: true}, nil
	}
	if turn != m.turn {
		m.turn, m.step, m.runs, m.asked = turn, 0, 0, nil
	}
	answer := move{turn: turn, runs: m.runs}
	steps := m.session.Turns[turn].Steps
	for m.step < len(steps)-1 {
		step := steps[m.step]
		if step.Run != "" && (m.policy != policyNone || m.agent.runsWithoutSkills) {
			m.step, m.asked = m.step+1, nil
			m.runs++
			answer.calls = m.agent.run(m.place, step)
			return answer, nil
		}
		lacks, err := m.lacks(step, text)
		if err != nil {
			return answer, err
		}
		if len(lacks) > 0 {
			answer.calls = m.agent.ask(m.place, lacks)
			return answer, nil
		}
		m.step, m.asked = m.step+1, nil
	}
	answer.say = steps[len(steps)-1].Say
	return answer, nil
}

// lacks returns the parts that a step still has to ask for. It asks for the whole doc if its
// section did not come.
func (m *model) lacks(step Step, request string) ([]part, error) {
	if m.policy == policyNone || step.Skill == "" && step.Docs == nil {
		return nil, nil
	}
	isFirst := m.asked == nil
	if isFirst {
		m.asked = map[string]int{}
	}
	wanted := []part{}
	add := func(skill, doc, heading string) error {
		p, err := readPart(m.place.skills, skill, doc, heading)
		key := skill + "/" + doc + "#" + heading
		p.asked = m.asked[key]
		if m.policy == policyAgain && p.asked == 0 || !p.isIn(request) && p.asked < m.agent.asks {
			m.asked[key]++
			wanted = append(wanted, p)
		}
		return err
	}
	if step.Skill != "" {
		err := add(step.Skill, "", "")
		return wanted, err
	}
	for i, doc := range step.Docs {
		heading := ""
		if m.policy == policySections && i < len(step.Sections) && isFirst {
			heading = step.Sections[i]
		}
		if heading == "" && m.policy == policySections && i < len(step.Sections) {
			// The section was asked for. The whole doc is only needed if it did not come.
			if p, err := readPart(m.place.skills, step.Of, doc, step.Sections[i]); err != nil || p.isIn(request) {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		if err := add(step.Of, doc, heading); err != nil {
			return nil, err
		}
	}
	return wanted, nil
}

// textOf returns all strings of a JSON value, a line each.
func textOf(v any) string {
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v)
			b.WriteByte('\n')
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return b.String()
}

// compact returns v as JSON without escapes of HTML.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}
