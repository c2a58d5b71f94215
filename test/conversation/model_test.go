package conversation_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
)

// response is what the scripted model calls: sensible and bad calls, one or several in a
// message. No two calls of a message are equal, because without ids they could not be
// distinguished.
func (c *conversation) response(a *agent) []core.ToolCall {
	var calls []core.ToolCall
	for range 1 + c.rnd.IntN(3) {
		call := c.oneCall(a)
		if slices.ContainsFunc(calls, func(x core.ToolCall) bool { return x == call }) {
			continue
		}
		calls = append(calls, call)
	}
	for i := range calls {
		switch c.ids {
		case 0:
			c.calls++
			calls[i].ID = fmt.Sprintf("id-%d", c.calls)
		case 1:
			calls[i].ID = fmt.Sprintf("call_%d", i)
		}
	}
	return calls
}

func (c *conversation) oneCall(a *agent) core.ToolCall {
	name, args := c.pick(), arguments{}
	switch n := c.rnd.IntN(100); {
	case n < 36:
		args = arguments{Skill: name, Docs: c.docs(40), All: c.chance(8)}
		if c.chance(25) {
			args.Skills = []string{c.pick(), c.pick()}[:1+c.rnd.IntN(2)]
		}
		if c.chance(12) {
			args.Mode = "replace"
		}
		return core.ToolCall{Name: "skill_load", Arguments: c.written(args)}
	case n < 62:
		if h := a.oracle.loaded; len(h) > 0 && c.chance(85) {
			name = h[c.rnd.IntN(len(h))].name
		}
		args = arguments{Skill: name, Docs: c.docs(95), All: c.chance(10), Mode: []string{"", "add", "replace", "clear"}[c.rnd.IntN(4)]}
		return core.ToolCall{Name: "skill_select_docs", Arguments: c.written(args)}
	case n < 72:
		args = arguments{Skills: []string{name, c.pick()}[:1+c.rnd.IntN(2)], Every: c.chance(20)}
		return core.ToolCall{Name: "skill_unload", Arguments: c.written(args)}
	case n < 80:
		return core.ToolCall{Name: "skill_read", Arguments: arguments{Skill: name, Path: "data.csv"}.String()}
	case n < 84:
		return core.ToolCall{Name: "skill_list_docs", Arguments: arguments{Skill: name}.String()}
	case n < 90:
		bad := []string{`{"skill":`, `[1]`, `{"skill":7}`, ``, `{"skill":"ss"}`}
		return core.ToolCall{Name: []string{"skill_load", "skill_select_docs"}[c.rnd.IntN(2)], Arguments: bad[c.rnd.IntN(len(bad))]}
	case n < 92:
		return core.ToolCall{Name: "skill_laod", Arguments: "s1"}
	}
	return core.ToolCall{Name: "search", Arguments: fmt.Sprintf(`{"q":"%d"}`, c.messages)}
}

func (c *conversation) pick() string {
	names := append(c.world.Names(), "s9")
	return names[c.rnd.IntN(len(names))]
}

func (c *conversation) docs(percent int) []string {
	if !c.chance(percent) {
		return nil
	}
	names := []string{"d0.md", "./d1.md", "d2.md"}
	for range 3 {
		names = append(names, fmt.Sprintf("d%d.md#%s", c.rnd.IntN(2), []string{"a", "b", "B", "# C"}[c.rnd.IntN(4)]))
	}
	if c.chance(10) {
		names = append(names, "d7.md")
	}
	c.rnd.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:1+c.rnd.IntN(2)]
}

// written gives arguments one of the forms in which frameworks pass them.
func (c *conversation) written(args arguments) string {
	text := args.String()
	if c.chance(15) {
		wrapped, err := json.Marshal(map[string]string{"__arg1": text})
		c.must(err)
		return string(wrapped)
	}
	return text
}

// expect tells the oracle of an executed call.
func (c *conversation) expect(a *agent, result stored, call core.ToolCall) {
	if !c.runtime.Hooks().Owns(call.Name) {
		return
	}
	if call.Name == "skill_read" && c.parallel {
		return // a read waits for earlier loads, but not for later ones
	}
	if c.apply(a, result.id, call) == strings.HasPrefix(result.Text, "error: ") {
		c.fail("call #%d %s %s answers %q", result.id, call.Name, call.Arguments, result.Text)
	}
}

// apply reports whether the call can be made at all.
func (c *conversation) apply(a *agent, at int, call core.ToolCall) bool {
	var args arguments
	var wrapped struct {
		Arg1 string `json:"__arg1"`
	}
	if json.Unmarshal([]byte(call.Arguments), &wrapped) == nil && wrapped.Arg1 != "" {
		call.Arguments = wrapped.Arg1
	}
	if json.Unmarshal([]byte(call.Arguments), &args) != nil {
		return false
	}
	docs := args.Docs
	for i := range docs {
		doc, heading, isSection := strings.Cut(strings.TrimPrefix(docs[i], "./"), "#")
		if docs[i] = doc; isSection {
			docs[i] += "#" + strings.ToLower(strings.TrimLeft(heading, "# "))
		}
	}
	switch call.Name {
	case "skill_load":
		return c.applyLoad(a, at, args)
	case "skill_select_docs":
		h := a.oracle.find(args.Skill)
		s := c.world.Skills[args.Skill]
		if e := a.oracle.inView(args.Skill); h == nil && e != nil && s != nil {
			if args.Mode == "clear" || e.body.edition != s.Body {
				return false
			}
			a.oracle.load(c.world, at, []string{args.Skill}, docs, args.All, false)
			return true
		}
		if h == nil || s == nil {
			return false
		}
		if args.Mode == "clear" {
			a.oracle.selectDocs(c.world, at, args.Skill, nil, "replace")
			return true
		}
		if args.All {
			docs = sortedKeys(s.Docs)
		}
		if len(docs) == 0 || slices.ContainsFunc(docs, func(d string) bool { return c.world.Edition(args.Skill, d) == 0 }) {
			return false
		}
		a.oracle.selectDocs(c.world, at, args.Skill, docs, args.Mode)
		return true
	case "skill_unload":
		a.oracle.unloadNamed(at, args.Skills, args.Every)
		return true
	case "skill_read":
		readable := a.oracle.find(args.Skill) != nil || a.oracle.keeps && a.oracle.inView(args.Skill) != nil
		return readable && c.world.Skills[args.Skill] != nil
	}
	return c.world.Skills[args.Skill] != nil
}

func (c *conversation) applyLoad(a *agent, at int, args arguments) bool {
	var all, names []string
	for _, n := range append([]string{args.Skill}, args.Skills...) {
		if n != "" && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	for _, n := range all {
		if c.world.Skills[n] != nil {
			names = append(names, n)
		}
	}
	if len(all) > c.max || len(names) == 0 {
		return false
	}
	a.oracle.load(c.world, at, names, args.Docs, args.All, args.Mode == "replace")
	return true
}

// arguments are those of every skill tool together.
type arguments struct {
	Skill  string   `json:"skill,omitempty"`
	Skills []string `json:"skills,omitempty"`
	Docs   []string `json:"docs,omitempty"`
	All    bool     `json:"include_all_docs,omitempty"`
	Every  bool     `json:"all,omitempty"`
	Mode   string   `json:"mode,omitempty"`
	Path   string   `json:"path,omitempty"`
}

func (a arguments) String() string {
	b, _ := json.Marshal(a)
	return string(b)
}
