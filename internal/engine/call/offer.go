package call

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/tools/run"
)

// Choices are what the options of a host say of its tools and of the list of skills.
type Choices struct {
	Profile tools.Profile
	// Names are those of the tools that the host wants in place of its profile, nil for
	// the profile's.
	Names []string
	// Vocabulary has other tools than those of the profile, nil for none.
	Vocabulary *tools.Vocabulary
	// Further are the host's own.
	Further []tools.Operation
	// Runner runs commands, nil where nothing runs.
	Runner *run.Runner
	// Omitted names the tools of Vocabulary that are not offered.
	Omitted []string
	// Binds are called in turn with each tool, and return it as extensions need it.
	Binds []func(tools.Operation) tools.Operation
	// Text says how the skills are listed. Renderer, unless it is nil, lists them instead,
	// and Guidance replaces the rules of the tools.
	Text     processors.OverviewText
	Renderer func([]core.Skill) string
	Guidance *string
	// Search says whether skill_search is offered. Nil leaves that to the room for the
	// list.
	Search *bool
	// Suggests reports that messages of users come with skills that they may mean.
	Suggests bool
}

// Offer holds the tools that are offered, and says how requests list the skills. It does not
// change.
type Offer struct {
	Set *skilltools.Set
	// Command is skill_run if the tools of Vocabulary run scripts by it, else nil.
	Command    *tools.Operation
	Vocabulary *tools.Vocabulary
	Runner     *run.Runner
	// Text lists the skills, with its Guidance after the list. Renderer, unless it is nil,
	// writes the list instead.
	Text     processors.OverviewText
	Renderer func([]core.Skill) string
	// Searches reports that the tools search for skills that the list has no room for.
	Searches bool
}

// NewOffer returns the offer for a runtime that begins with these skills.
func NewOffer(c Choices, skills []core.Skill) (*Offer, error) {
	o := &Offer{Vocabulary: c.Vocabulary, Runner: c.Runner, Text: c.Text, Renderer: c.Renderer}
	if err := o.choose(&c); err != nil {
		return nil, err
	}
	if v := c.Vocabulary; v != nil && v.Unlisted {
		o.Renderer, o.Text.Guidance = func([]core.Skill) string { return v.Guidance }, ""
		return o, nil
	}
	o.Text.Guidance = o.rules(&c)
	if o.Searches = o.searches(&c, skills); !o.Searches {
		return o, nil
	}
	if !o.Set.Has(skilltools.SearchName) {
		if err := o.choose(&c, skilltools.SearchName); err != nil {
			return nil, err
		}
	}
	o.Text.Search = skilltools.SearchName
	o.Text.Guidance = o.rules(&c)
	return o, nil
}

// Executes reports whether the chosen tools run commands.
func (c *Choices) Executes() bool {
	if v := c.Vocabulary; v != nil {
		return c.Profile != tools.KnowledgeOnly && slices.ContainsFunc(v.Operations, func(op tools.Operation) bool {
			return op.RunArguments != nil && (c.Names == nil || slices.Contains(c.Names, op.Name))
		})
	}
	if c.Names == nil {
		return c.Profile != tools.KnowledgeOnly
	}
	return slices.ContainsFunc(new(run.Runner).Operations(), func(op tools.Operation) bool { return slices.Contains(c.Names, op.Name) })
}

// IsOwn reports whether a name is that of one of Satchel's tools, offered or not, or of
// an operation of the host or of an extension. The vocabulary of the runtime spec may be named
// alone.
func (c *Choices) IsOwn(name string) bool {
	if name == "skill_update" { // of a module of Satchel, also where that is not there
		return true
	}
	operations := append(append(skilltools.Default(), skilltools.Search()), new(run.Runner).Operations()...)
	if v := c.Vocabulary; v != nil && v.Name == tools.RuntimeSpec && len(v.Operations) == 0 {
		operations = append(operations, skilltools.RuntimeSpec(v.Dotted, v.Locations).Operations...)
	} else if v != nil {
		operations = append(operations, v.Operations...)
	}
	return slices.ContainsFunc(append(operations, c.Further...), func(op tools.Operation) bool { return op.Name == name })
}

// choose builds the set of the tools that the choices name, and of further ones.
func (o *Offer) choose(c *Choices, further ...string) error {
	var operations []tools.Operation
	var names []string
	if c.Vocabulary != nil {
		operations, names = o.ofVocabulary(c)
	} else {
		var err error
		if operations, names, err = c.ofProfile(); err != nil {
			return err
		}
	}
	names = append(names, further...)
	for _, op := range c.Further {
		operations, names = append(operations, op), append(names, op.Name)
	}
	for _, bind := range c.Binds {
		for i := range operations {
			operations[i] = bind(operations[i])
		}
	}
	var err error
	o.Set, err = skilltools.Choose(operations, names)
	return err
}

// ofProfile returns Satchel's own operations, and the names of those that are chosen.
func (c *Choices) ofProfile() (operations []tools.Operation, names []string, err error) {
	names = slices.Clone(c.Names)
	if c.Names == nil {
		if names, err = c.Profile.Names(); err != nil {
			return nil, nil, err
		}
	}
	operations = append(skilltools.Default(), skilltools.Search())
	if c.Runner == nil {
		return operations, names, nil
	}
	for _, op := range c.Runner.Operations() {
		operations = append(operations, op)
		if c.Names == nil && c.Profile != tools.KnowledgeOnly {
			names = append(names, op.Name)
		}
	}
	return operations, names, nil
}

// ofVocabulary is ofProfile for another vocabulary. Tools that run scripts are left out if
// commands cannot run, and so are those that extensions omit. It sets Command.
func (o *Offer) ofVocabulary(c *Choices) (operations []tools.Operation, names []string) {
	names = slices.Clone(c.Names)
	for _, op := range c.Vocabulary.Operations {
		if slices.Contains(c.Omitted, op.Name) {
			continue
		}
		if op.RunArguments != nil {
			if c.Runner == nil || c.Profile == tools.KnowledgeOnly {
				continue
			}
			run := c.Runner.Run()
			op.Request = func(args tools.Args) permission.Request { return run.Request(run.Decode(op.RunArguments(args))) }
			o.Command = &run
		}
		if operations = append(operations, op); c.Names == nil {
			names = append(names, op.Name)
		}
	}
	if c.Runner != nil { // for hosts that name them by Tools.Names
		operations = append(operations, c.Runner.Operations()...)
	}
	return append(operations, skilltools.Search()), names
}

// rules returns those that follow the list of skills, as the tools that are chosen so far
// need them.
func (o *Offer) rules(c *Choices) string {
	switch {
	case c.Guidance != nil:
		return *c.Guidance
	case c.Text.Guidance != "":
		return c.Text.Guidance
	}
	rules, searches := o.Set.Guidance(), o.Set.Has(skilltools.SearchName)
	if c.Vocabulary != nil {
		if rules = c.Vocabulary.Guidance; searches {
			rules += " " + skilltools.SearchGuidance
		}
	}
	switch {
	case rules == "" || !c.Suggests:
	case searches: // both are short, for there is little room
		rules = strings.Replace(rules, skilltools.SearchGuidance, "More skills: "+skilltools.SearchName+". "+suggestedNames, 1)
	default:
		rules += " " + suggestedNames
	}
	return rules
}

// suggestedNames says what a note of package turn means.
const suggestedNames = "<skills_suggested> names likely ones."

// searches reports whether skill_search is offered, where the overview would list these
// skills without it.
func (o *Offer) searches(c *Choices, skills []core.Skill) bool {
	switch {
	case c.Search != nil:
		return *c.Search
	case c.Names != nil:
		return slices.Contains(c.Names, skilltools.SearchName)
	case c.Renderer != nil:
		return false
	}
	fit := o.Text.Fit(skills)
	return fit.Bare+fit.Missing > 0
}
