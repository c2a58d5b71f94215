// Package scenario holds scripted conversations: what the user says, which
// skills and docs the task needs, which tools of the host are called and what
// they answer. A script names needs and not calls, so that every system can be
// asked for them in its own way.
package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// ErrScenario reports a file that is no scenario.
var ErrScenario = errors.New("not a scenario")

// Scenario is one conversation.
type Scenario struct {
	// Name is part of file names.
	Name string `json:"name"`
	// Instruction is the system text of the host.
	Instruction string `json:"instruction"`
	// Tools are the host's. Those that steps call and that are not listed are
	// made up from the calls.
	Tools []prompt.Tool `json:"tools,omitempty"`
	Turns []Turn        `json:"turns"`
	// Again reports that the model asks for a skill in each turn that uses it, even if its text
	// is in the request.
	Again bool `json:"again,omitempty"`

	// Unknown are the fields of the file that were left out, such as
	// "turns[].comment", and File is the file, where it was read from one.
	Unknown []string `json:"-"`
	File    string   `json:"-"`
}

// Once returns the scenario without Again, for a system whose model can ask for nothing.
func (s *Scenario) Once() *Scenario {
	once := *s
	once.Again = false
	return &once
}

// Turn is one message of the user and the steps after it.
type Turn struct {
	User  string `json:"user"`
	Steps []Step `json:"steps"`
	// IdleSeconds pass before the message.
	IdleSeconds float64 `json:"idle_seconds,omitempty"`
}

// Step is one of three: a need, a call of a tool of the host, or an answer.
type Step struct {
	// Need is a skill whose text, with that of the docs, must be in the request
	// before the next step. A doc may be a section of it: "docs/locks.md#timeouts".
	Need string   `json:"need,omitempty"`
	Docs []string `json:"docs,omitempty"`
	// Tool is called with Args and answers Result.
	Tool   string          `json:"tool,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Result string          `json:"result,omitempty"`
	// Say is the answer that ends the turn.
	Say string `json:"say,omitempty"`
}

// ReadDir reads the scenarios of a directory, the files that end in .json,
// sorted by file. No two have the same name. Errors name the file.
func ReadDir(dir string) ([]*Scenario, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read scenarios: %w", err)
	}
	defer root.Close()
	names, err := fs.Glob(root.FS(), "*.json")
	if err != nil {
		return nil, fmt.Errorf("read scenarios: %w", err)
	}
	var all []*Scenario
	files := map[string]string{}
	for _, name := range names {
		data, err := root.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read scenarios: %w", err)
		}
		file := filepath.Join(dir, name)
		s, err := Parse(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if other := files[s.Name]; other != "" {
			return nil, fmt.Errorf("%s: %w: %s is named %q too", file, ErrScenario, other, s.Name)
		}
		files[s.Name], s.File = file, file
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: %s holds no file that ends in .json", ErrScenario, dir)
	}
	return all, nil
}

// Parse reads one scenario. Fields that are not known are left out and named in
// Unknown. A step that is none or more than one of the three is an error, and so is
// a tool without a name; the error says where. A turn without an answer at its end
// gets an empty one, so that every turn is over.
func Parse(data []byte) (*Scenario, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	s := new(Scenario)
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrScenario, position(data, err), err)
	}
	if rest := bytes.TrimSpace(data[d.InputOffset():]); len(rest) > 0 {
		return nil, fmt.Errorf("%w: %s: more text after its end", ErrScenario, lineOf(data, len(data)-len(rest)))
	}
	s.Unknown = unknown(data[:d.InputOffset()], reflect.TypeFor[Scenario]())
	if s.Name == "" || len(s.Turns) == 0 {
		return nil, fmt.Errorf("%w: it needs a name and turns", ErrScenario)
	}
	if !filepath.IsLocal(s.Name) || strings.ContainsAny(s.Name, `/\`) {
		return nil, fmt.Errorf("%w: name %q cannot be part of a file name", ErrScenario, s.Name)
	}
	for i, t := range s.Tools {
		if t.Name == "" {
			return nil, fmt.Errorf("%w: tools[%d]: want a name", ErrScenario, i)
		}
	}
	for i := range s.Turns {
		for j := range s.Turns[i].Steps {
			if err := s.Turns[i].Steps[j].check(); err != nil {
				return nil, fmt.Errorf("%w: turns[%d].steps[%d]: %w", ErrScenario, i, j, err)
			}
		}
	}
	return s, s.completeTools()
}

func (s *Step) check() error {
	kinds := 0
	for _, set := range []bool{s.Need != "", s.Tool != "", s.Say != ""} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		return errors.New(`want one of "need", "tool" and "say"`)
	}
	if s.Tool == "" {
		return nil
	}
	if len(s.Args) == 0 {
		s.Args = json.RawMessage("{}")
	}
	var args map[string]any
	if err := json.Unmarshal(s.Args, &args); err != nil {
		return fmt.Errorf("args: %w", err)
	}
	text, err := plainjson.Encode(args)
	s.Args = json.RawMessage(text)
	return err
}

// lookup is the tool that the scenarios of the first captures use.
var lookup = prompt.Tool{
	Name:        "lookup",
	Description: "Looks something up in the company's systems.",
	Parameters:  json.RawMessage(`{"properties":{"query":{"description":"what to look up","type":"string"}},"required":["query"],"type":"object"}`),
}

// completeTools defines the tools that steps call and the scenario does not
// define, sorted by name.
func (s *Scenario) completeTools() error {
	arguments := map[string]map[string]any{}
	for _, turn := range s.Turns {
		for _, step := range turn.Steps {
			if step.Tool == "" || slices.ContainsFunc(s.Tools, func(t prompt.Tool) bool { return t.Name == step.Tool }) {
				continue
			}
			if arguments[step.Tool] == nil {
				arguments[step.Tool] = map[string]any{}
			}
			var args map[string]any
			if err := json.Unmarshal(step.Args, &args); err != nil {
				return fmt.Errorf("%w: args of %q: %w", ErrScenario, step.Tool, err)
			}
			for name, value := range args {
				arguments[step.Tool][name] = map[string]any{"type": jsonType(value)}
			}
		}
	}
	var made []prompt.Tool
	for name, properties := range arguments {
		t := lookup
		if name != lookup.Name {
			parameters, err := plainjson.Encode(map[string]any{"type": "object", "properties": properties})
			if err != nil {
				return err
			}
			t = prompt.Tool{Name: name, Description: "A tool of the host: " + strings.ReplaceAll(name, "_", " ") + ".", Parameters: json.RawMessage(parameters)}
		}
		made = append(made, t)
	}
	slices.SortFunc(made, func(a, b prompt.Tool) int { return strings.Compare(a.Name, b.Name) })
	s.Tools = append(s.Tools, made...)
	return nil
}

func jsonType(v any) string {
	switch v.(type) {
	case bool:
		return "boolean"
	case float64:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "string"
}
