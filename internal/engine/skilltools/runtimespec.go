package skilltools

import (
	"cmp"
	"context"
	"path"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
)

// config holds the variant of the runtime spec's vocabulary.
type config struct {
	separator string
	absolute  bool
}

const guidance = `Load a skill with LOAD before you use any of its instructions, files or scripts; the list only says what it is for. ` +
	goOn + ` LOAD replaces what is loaded unless its mode is "add". READ reads files of loaded skills, RUN runs their scripts. UNLOAD what you are done with.`

// RuntimeSpec returns the vocabulary of the runtime spec: skills_load, skills_unload, skills_read
// and skills_run_script. If isDotted is set, names have a dot instead of the underscore. If
// hasLocations is set, receipts have absolute paths for skills that are directories. Otherwise
// they have the paths of the overview.
func RuntimeSpec(isDotted, hasLocations bool) tools.Vocabulary {
	c := &config{separator: "_", absolute: hasLocations}
	if isDotted {
		c.separator = "."
	}
	name := func(verb string) string { return "skills" + c.separator + verb }
	read := Read()
	read.Name, read.Provides = name("read"), []string{"skill_read"}
	return tools.Vocabulary{
		Name:       tools.RuntimeSpec,
		Operations: []tools.Operation{c.load(name("load")), c.unload(name("unload")), read, runScript(name("run_script"))},
		Guidance: strings.NewReplacer("UNLOAD", "Unload with "+name("unload"), "LOAD", name("load"), "READ", name("read"), "RUN", name("run_script")).
			Replace(guidance),
		InSystem:   true,
		ForSession: true,
	}
}

func (c *config) load(name string) tools.Operation {
	return tools.Operation{
		Name:        name,
		Description: "Load the full instructions of one or more skills.",
		Fields: []tools.Field{
			{Name: "names", Kind: tools.Texts, Required: true, Aliases: []string{"name", "skills", "skill"}, Description: "skill names from the list"},
			{Name: "mode", Kind: tools.Text, Enum: []string{"replace", "add"}, Description: "replace (default) unloads all other skills"},
		},
		Kind:     tools.Changes,
		Provides: []string{"skill_load"},
		Call: With(func(ctx context.Context, s *Scope, args tools.Args) (string, error) {
			return LoadAll(ctx, s, args.Texts("names"), args.Text("mode") != "add", c.receipt(s))
		}),
	}
}

func (c *config) unload(name string) tools.Operation {
	return tools.Operation{
		Name:        name,
		Description: "Unload skills that you no longer need, or all.",
		Fields: []tools.Field{
			{Name: "names", Kind: tools.Texts, Aliases: []string{"name", "skills", "skill"}},
			{Name: "all", Kind: tools.Flag},
		},
		Kind:     tools.Changes,
		Needs:    []string{"skill_load"},
		Provides: []string{"skill_unload"},
		Call: With(func(ctx context.Context, s *Scope, args tools.Args) (string, error) {
			return UnloadAll(ctx, s, args.Texts("names"), args.Flag("all"), c.receipt(s))
		}),
	}
}

// receipt is the receipt of the spec, with Satchel's receipt as its last field.
type receipt struct {
	Active  []activeSkill `json:"active_skills"`
	Notes   []string      `json:"notes,omitempty"`
	Receipt string        `json:"receipt,omitempty"`
}

type activeSkill struct {
	Name       string         `json:"name"`
	Location   string         `json:"location"`
	RootDir    string         `json:"root_dir"`
	Digest     string         `json:"digest"`
	Properties map[string]any `json:"properties"`
}

func (c *config) receipt(s *Scope) AnswerFunc {
	return func(next *state.Record, notes []string, own string) (string, error) {
		r := receipt{Active: []activeSkill{}, Notes: notes, Receipt: own}
		snapshot := s.Catalog().Snapshot()
		for _, a := range next.Active {
			skill, ok := snapshot.Skill(cmp.Or(a.ID, a.Skill))
			if !ok {
				skill = core.Skill{Name: a.Skill}
			}
			at := skill.Place
			if absolute, ok := s.Catalog().Path(a.Skill); ok && c.absolute {
				at = strings.ReplaceAll(absolute, `\`, "/")
			}
			r.Active = append(r.Active, activeSkill{a.Skill, at, path.Dir(at), "sha256:" + next.Full(a.Digest), properties(skill)})
		}
		text, err := plainjson.Encode(r)
		return printable.Lines(text), err // front matter may contain invisible characters
	}
}

// properties returns the fields of a skill's front matter.
func properties(skill core.Skill) map[string]any {
	p := map[string]any{"name": skill.Name, "description": skill.Description}
	for name, value := range map[string]string{"license": skill.License, "compatibility": skill.Compatibility, "version": skill.Version} {
		if value != "" {
			p[name] = value
		}
	}
	if skill.AllowedTools != nil {
		p["allowed-tools"] = strings.Join(skill.AllowedTools, " ")
	}
	if len(skill.Metadata) > 0 {
		p["metadata"] = skill.Metadata
	}
	return p
}
