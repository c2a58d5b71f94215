package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk/middlewares/skill"
	"github.com/cloudwego/eino/components/tool"
	"github.com/tiktoken-go/tokenizer"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/satcheltest"
	"github.com/satchel-go/satchel/skillmd"
)

// Sent counts the tokens that an agent sends in the story with one way to give a model skills.
type Sent struct {
	Name     string
	Requests int
	// Tokens counts all requests, Largest only the largest.
	Tokens, Largest int
}

// Comparison compares several ways to give a model skills. Tokens are of o200k_base.
type Comparison struct {
	Ways []Sent
	// Skills is how many skills there are. Text and Line are the mean tokens of a skill's
	// text with its docs, and of its line in the overview.
	Skills, Text, Line int
}

// Compare measures the story as Satchel sent it, with all skills in the prompt, and as an
// agent with Eino's own skill middleware would send it. That agent has a tool that reads
// files, and the same tool for commands.
func Compare(ctx context.Context, skills fs.FS, system string, satchel, injected []Exchange) (*Comparison, error) {
	vocabulary, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil, err
	}
	renderer := prompt.NewRenderer(vocabulary)
	demoSkills, err := readSkills(skills)
	if err != nil {
		return nil, err
	}
	eino, err := einoRequests(ctx, demoSkills, system, satchel)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Skills: len(demoSkills)}
	for _, way := range []struct {
		name     string
		requests []prompt.Request
	}{
		{"Satchel", requestsOf(satchel)},
		{"all skills in the prompt", requestsOf(injected)},
		{"Eino's skill middleware", eino},
	} {
		sent := Sent{Name: way.name, Requests: len(way.requests)}
		for _, r := range way.requests {
			rendered, err := renderer.Render(r)
			if err != nil {
				return nil, err
			}
			sent.Tokens += rendered.Size
			sent.Largest = max(sent.Largest, rendered.Size)
		}
		c.Ways = append(c.Ways, sent)
	}
	if len(demoSkills) == 0 || len(satchel) == 0 {
		return c, nil
	}
	text, line := 0, 0
	for _, s := range demoSkills {
		tokens, err := renderer.Encode(s.whole())
		if err != nil {
			return nil, err
		}
		text += len(tokens)
	}
	for _, found := range listedSkill.FindAllString(systemText(satchel[0].Request), -1) {
		tokens, err := renderer.Encode(found)
		if err != nil {
			return nil, err
		}
		line += len(tokens)
	}
	c.Text, c.Line = text/len(demoSkills), line/len(demoSkills)
	return c, nil
}

func systemText(r satcheltest.Request) string {
	for _, m := range r.Messages {
		if m.Role == "system" {
			return m.Text
		}
	}
	return ""
}

// demoSkill is a skill with its docs, by their paths.
type demoSkill struct {
	name, description, body string
	docs                    map[string]string
}

func (s *demoSkill) whole() string {
	var b strings.Builder
	b.WriteString(s.body)
	for _, name := range slices.Sorted(maps.Keys(s.docs)) {
		b.WriteString("\n" + s.docs[name])
	}
	return b.String()
}

// readSkills reads the skills of the story, in the order of their names.
func readSkills(skills fs.FS) (all []*demoSkill, err error) {
	entries, err := fs.ReadDir(skills, ".")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		text, err := fs.ReadFile(skills, path.Join(entry.Name(), "SKILL.md"))
		if err != nil {
			continue // it is no skill
		}
		doc, _, err := skillmd.Parse(text)
		if err != nil {
			return nil, err
		}
		s := &demoSkill{doc.Skill.Name, doc.Skill.Description, doc.Body, map[string]string{}}
		found, err := fs.Glob(skills, path.Join(entry.Name(), "references", "*.md"))
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			doc, err := fs.ReadFile(skills, name)
			if err != nil {
				return nil, err
			}
			s.docs[strings.TrimPrefix(name, entry.Name()+"/")] = string(doc)
		}
		all = append(all, s)
	}
	return all, nil
}

// requestsOf returns the requests of exchanges.
func requestsOf(exchanges []Exchange) (requests []prompt.Request) {
	for _, e := range exchanges {
		r := prompt.Request{Turn: e.Request.Turn() - 1}
		for _, t := range e.Request.Tools {
			r.Tools = append(r.Tools, prompt.Tool{Name: t.Name, Description: t.Description, Parameters: json.RawMessage(t.Schema)})
		}
		for _, m := range e.Request.Messages {
			r.Messages = append(r.Messages, message(m))
		}
		requests = append(requests, r)
	}
	return requests
}

func message(m satcheltest.Message) prompt.Message {
	out := prompt.Message{Role: m.Role, Content: m.Text, CallID: m.CallID}
	for _, c := range m.Calls {
		out.Calls = append(out.Calls, prompt.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	return out
}

// backend gives Eino's middleware the skills of the story.
type backend []*demoSkill

// List implements skill.Backend.
func (b backend) List(context.Context) (all []skill.FrontMatter, err error) {
	for _, s := range b {
		all = append(all, skill.FrontMatter{Name: s.name, Description: s.description})
	}
	return all, nil
}

// Get implements skill.Backend.
func (b backend) Get(_ context.Context, name string) (skill.Skill, error) {
	for _, s := range b {
		if s.name == name {
			return skill.Skill{FrontMatter: skill.FrontMatter{Name: s.name, Description: s.description}, Content: s.body, BaseDirectory: "/skills/" + name}, nil
		}
	}
	return skill.Skill{}, fmt.Errorf("no skill %q", name)
}

// readFile is the smallest tool with which that agent can read docs.
var readFile = prompt.Tool{
	Name: "read_file", Description: "Reads a file.",
	Parameters: json.RawMessage(`{"properties":{"file_path":{"type":"string"}},"required":["file_path"],"type":"object"}`),
}

// einoRequests returns the requests of an agent with Eino's middleware in the conversation of
// exchanges. Its tool results stay in the conversation.
func einoRequests(ctx context.Context, demoSkills backend, system string, exchanges []Exchange) ([]prompt.Request, error) {
	if len(exchanges) == 0 {
		return nil, nil
	}
	middleware, err := skill.New(ctx, &skill.Config{Backend: demoSkills})
	if err != nil {
		return nil, err
	}
	loads, ok := middleware.AdditionalTools[0].(tool.InvokableTool)
	if !ok {
		return nil, fmt.Errorf("the tool of Eino's middleware cannot be called")
	}
	info, err := loads.Info(ctx)
	if err != nil {
		return nil, err
	}
	parameters, err := info.ToJSONSchema()
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(parameters)
	if err != nil {
		return nil, err
	}
	tools := []prompt.Tool{{Name: info.Name, Description: info.Desc, Parameters: encoded}, readFile}
	for _, t := range requestsOf(exchanges[:1])[0].Tools {
		if t.Name == "skill_run" {
			tools = append(tools, t)
		}
	}
	all := []prompt.Message{{Role: "system", Content: system + "\n" + middleware.AdditionalInstruction}}
	var requests []prompt.Request
	last := exchanges[len(exchanges)-1].Request
	send := func(turn int) {
		requests = append(requests, prompt.Request{Turn: turn, Tools: tools, Messages: slices.Clone(all)})
	}
	turn := -1
	answers := map[string]string{} // by call, where the agent's tools answer in another way
	for _, m := range last.Messages {
		switch m.Role {
		case "system":
			continue
		case "user":
			turn++
		case "assistant":
			send(turn)
			said := message(m)
			for i := range said.Calls {
				if err := demoSkills.call(ctx, loads, &said.Calls[i], answers); err != nil {
					return nil, err
				}
			}
			all = append(all, said)
			continue
		}
		said := message(m)
		if text, ok := answers[m.CallID]; ok {
			said.Content = text
		}
		all = append(all, said)
	}
	send(turn)
	return requests, nil
}

// call turns a call of a tool of Satchel into the call of an agent with Eino's middleware, and adds
// its answer to answers.
func (b backend) call(ctx context.Context, loads tool.InvokableTool, call *prompt.Call, answers map[string]string) error {
	var args struct {
		Skill string
		Docs  []string
	}
	switch call.Name {
	case "skill_load":
		if err := json.Unmarshal([]byte(call.Arguments), &args); err != nil {
			return err
		}
		text, err := loads.InvokableRun(ctx, call.Arguments)
		if err != nil {
			return err
		}
		call.Name, answers[call.ID] = "skill", text
	case "skill_select_docs":
		if err := json.Unmarshal([]byte(call.Arguments), &args); err != nil || len(args.Docs) == 0 {
			return fmt.Errorf("arguments of %s: %w", call.Name, err)
		}
		arguments, err := json.Marshal(map[string]string{"file_path": path.Join("/skills", args.Skill, args.Docs[0])})
		if err != nil {
			return err
		}
		call.Name, call.Arguments = readFile.Name, string(arguments)
		for _, s := range b {
			if s.name == args.Skill {
				answers[call.ID] = s.docs[args.Docs[0]]
			}
		}
	}
	return nil
}

// Comparison prints the tokens of each way.
func (p Printer) Comparison(c *Comparison) {
	p.line("\n%s", p.paint(bold, "== what the same conversation sends"))
	for _, way := range c.Ways {
		p.line("  %-25s %2d requests, %6d tokens, at most %d in one", way.Name, way.Requests, way.Tokens, way.Largest)
	}
	if c.Text == 0 {
		return
	}
	p.line("Tokens are those of o200k; the numbers with ~ above are estimates.")
	p.line("Requests hold tools too: Satchel's in the first two rows; in the third its middleware's, a reader of files and skill_run.")
	if c.Ways[0].Tokens > c.Ways[1].Tokens {
		p.line("With %s as small as these, tools and calls weigh more than the texts that are saved.", plural(c.Skills, "skill"))
	}
	p.line("Each further skill like these adds %d tokens to every request with all skills in the prompt, and %d to the overview:", c.Text, c.Line)
	p.line("100 of them are %d tokens in every request, or %d, which the overview shortens to its budget.", 100*c.Text, 100*c.Line)
}
