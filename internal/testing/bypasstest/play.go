package bypasstest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing/fstest"
)

// A Play is a conversation in which a model makes every kind of call before, during and after the
// loads of two skills. It knows which of the calls may pass.
type Play struct {
	// Messages holds the calls of each message of the model. A message without calls ends a turn.
	Messages [][]Call
	kinds    []string
	texts    []string // shell commands that must be denied
	next     int      // index in texts for the next batch of calls
	numbers  int      // number of the last call
}

// Call is one call of a play.
type Call struct {
	Tool, Arguments string
	// Number is in the arguments too, so that a tool can identify the call. It is 0 for a call
	// of a skill tool.
	Number int

	allowed bool     // the lists of loaded skills allow its command
	held    []string // skills whose lists apply to it
	lasting []string // like held, for load mode session; used if differs is set
	differs bool
}

// Tools returns the names of the host's tools in a play: for each kind one that runs shell
// commands, and three without arguments. shell reports whether a tool runs shell commands.
func Tools(kinds []string) (names []string, shell func(name string) bool) {
	for _, kind := range kinds {
		for _, tool := range []string{"sh", "left", "right", "other"} {
			names = append(names, tool+"_"+kind)
		}
	}
	return names, func(name string) bool { return name[:3] == "sh_" }
}

// Skills returns the files of the skills of a play.
func Skills() fstest.MapFS {
	files := fstest.MapFS{}
	for name, list := range map[string]string{"a": "Bash(echo:*), left_*", "b": "[\"Bash(echo *)\", right_*]"} {
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Has a list.\nallowed-tools: " + list + "\n---\nBODY\n")}
	}
	return files
}

// NewPlay returns a play for tools of these kinds.
func NewPlay(kinds ...string) *Play {
	p := &Play{kinds: kinds}
	for _, text := range Commands("rm x") {
		p.texts = append(p.texts, text)
	}
	slices.Sort(p.texts)
	load := func(skill string) []Call { return []Call{{Tool: "skill_load", Arguments: `{"skill":"` + skill + `"}`}} }
	unload := []Call{{Tool: "skill_unload", Arguments: `{"all":true}`}}
	both := []string{"a", "b"}
	p.Messages = [][]Call{
		p.batch(),
		slices.Concat(p.batch(), load("a"), p.batch("a"), load("b"), p.batch(both...)),
		p.batch(both...),
		slices.Concat(unload, p.batch(both...)),
		nil,
		p.batch(),
		slices.Concat(load("a"), p.batch("a")),
		nil,
		lasting(p.batch(), "a"),
		nil,
	}
	return p
}

// lasting marks calls of a later turn: the lists of skills apply to them only in load mode session.
func lasting(calls []Call, skills ...string) []Call {
	for i := range calls {
		calls[i].lasting, calls[i].differs = skills, true
	}
	return calls
}

// perBatch is how many texts that must be denied a batch sends to each shell tool.
const perBatch = 12

// batch returns calls of every kind to which the lists of these skills apply.
func (p *Play) batch(held ...string) []Call {
	var calls []Call
	add := func(tool string, allowed bool, args map[string]any) {
		p.numbers++
		args["n"] = p.numbers
		text, err := json.Marshal(args)
		if err != nil {
			panic(err) // strings and numbers always marshal
		}
		calls = append(calls, Call{Tool: tool, Arguments: string(text), Number: p.numbers, allowed: allowed, held: held})
	}
	for _, kind := range p.kinds {
		for _, command := range Allowed {
			add("sh_"+kind, true, map[string]any{"command": command})
		}
		for range perBatch {
			add("sh_"+kind, false, map[string]any{"command": p.texts[p.next%len(p.texts)]})
			p.next++
		}
		add("sh_"+kind, false, map[string]any{"command": "echo ok", "env": "PATH=."})
		for _, tool := range []string{"left", "right", "other"} {
			add(tool+"_"+kind, false, map[string]any{})
		}
	}
	return calls
}

// Passes reports whether a call may reach a tool of the host, under the names of a policy, of a way
// to combine lists, and of a load mode.
func (c *Call) Passes(policy, combine, mode string) bool {
	held := c.held
	if c.differs && mode == "session" {
		held = c.lasting
	}
	restricts := policy == "restrict-all" || policy == "restrict" && c.Tool[:4] != "othe" // no list names the host's other tools
	if !restricts || len(held) == 0 || c.allowed {
		return true
	}
	has := func(skill string) bool {
		return skill == "a" && c.Tool[:4] == "left" || skill == "b" && c.Tool[:4] == "righ"
	}
	switch combine {
	case "union":
		return slices.ContainsFunc(held, has)
	case "intersection":
		return !slices.ContainsFunc(held, func(skill string) bool { return !has(skill) })
	case "latest":
		return has(held[len(held)-1])
	}
	panic(fmt.Sprintf("no way to combine lists is called %q", combine))
}
