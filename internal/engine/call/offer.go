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

// Choices holds what a host's options choose about tools and the list of skills.
type Choices struct {
	Profile tools.Profile
	// Names are the tools that the host wants instead of those of Profile. It is nil if Profile
	// decides.
	Names []string
	// Vocabulary replaces Satchel's tools by other ones, nil for none.
	Vocabulary *tools.Vocabulary
	// Extra are the host's own operations.
	Extra []tools.Operation
	// Runner runs commands, nil where nothing runs.
	Runner *run.Runner
	// Omit names the tools of Vocabulary that are not offered.
	Omit []string
	// Binds are called in turn for each operation. Extensions use them to wrap operations.
	Binds []func(tools.Operation) tools.Operation
	// Text renders the list of skills. If Renderer is set, it renders the list instead. If
	// Guidance is set, it replaces the rules after the list.
	Text     processors.OverviewText
	Renderer func([]core.Skill) string
	Guidance *string
	// Search reports whether to offer skill_search. If it is nil, skill_search is offered if the
	// list cannot describe all skills.
	Search *bool
	// Arguments reports that skill_load has a field for the arguments of skills.
	Arguments bool
	// Suggests reports that user messages name skills that they may need.
	Suggests bool
}

// Offer holds the tools that a runtime offers, and how requests list the skills. It is immutable.
type Offer struct {
	Set *skilltools.Set
	// Command is skill_run if the tools of Vocabulary run scripts by it, else nil.
	Command    *tools.Operation
	Vocabulary *tools.Vocabulary
	Runner     *run.Runner
	// Text renders the list of skills, with its Guidance after it. If Renderer is set, it
	// renders the list instead.
	Text     processors.OverviewText
	Renderer func([]core.Skill) string
	// Searches reports that the tools search for skills that the list has no room for.
	Searches bool
}

// NewOffer returns the offer of a runtime whose catalog has these skills when it starts.
func NewOffer(c Choices, skills []core.Skill) (*Offer, error) {
	o := &Offer{Vocabulary: c.Vocabulary, Runner: c.Runner, Text: c.Text, Renderer: c.Renderer}
	o.Text.Elements = o.Text.Elements || c.Vocabulary != nil
	if err := o.choose(&c); err != nil {
		return nil, err
	}
	if v := c.Vocabulary; v != nil && v.Unlisted {
		o.Renderer, o.Text.Guidance = func([]core.Skill) string { return v.Guidance }, ""
		return o, nil
	}
	o.Text.Guidance = o.rules(&c)
	if o.Searches = o.needsSearch(&c, skills); !o.Searches {
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

// IsOwn reports whether name is the name of an operation of Satchel, of an extension, or of
// Extra, whether it is offered or not. A vocabulary may be given by the name of the runtime spec
// alone.
func (c *Choices) IsOwn(name string) bool {
	if name == "skill_update" { // of package library, which may not be linked in
		return true
	}
	operations := append(append(skilltools.Default(), skilltools.Search()), new(run.Runner).Operations()...)
	if v := c.Vocabulary; v != nil && v.Name == tools.RuntimeSpec && len(v.Operations) == 0 {
		operations = append(operations, skilltools.RuntimeSpec(v.Dotted, v.Locations).Operations...)
	} else if v != nil {
		operations = append(operations, v.Operations...)
	}
	return slices.ContainsFunc(append(operations, c.Extra...), func(op tools.Operation) bool { return op.Name == name })
}

// choose sets o.Set to the chosen tools and those with the names in extra.
func (o *Offer) choose(c *Choices, extra ...string) error {
	var operations []tools.Operation
	var names []string
	if c.Vocabulary != nil {
		operations, names = o.operationsOfVocabulary(c)
	} else {
		var err error
		if operations, names, err = c.operationsOfProfile(); err != nil {
			return err
		}
	}
	names = append(names, extra...)
	for _, op := range c.Extra {
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

// operationsOfProfile returns Satchel's own operations, and the names of the chosen ones.
func (c *Choices) operationsOfProfile() (operations []tools.Operation, names []string, err error) {
	names = slices.Clone(c.Names)
	if c.Names == nil {
		if names, err = c.Profile.Names(); err != nil {
			return nil, nil, err
		}
	}
	operations = append(skilltools.Default(), skilltools.Search())
	if c.Arguments {
		for i := range operations {
			operations[i] = skilltools.OfferArguments(operations[i])
		}
	}
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

// operationsOfVocabulary is operationsOfProfile for a vocabulary. It leaves out tools in Omit,
// and tools that run scripts if commands cannot run. It sets o.Command.
func (o *Offer) operationsOfVocabulary(c *Choices) (operations []tools.Operation, names []string) {
	names = slices.Clone(c.Names)
	for _, op := range c.Vocabulary.Operations {
		if slices.Contains(c.Omit, op.Name) {
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
	if c.Runner != nil { // hosts may name them in Tools.Names
		operations = append(operations, c.Runner.Operations()...)
	}
	return append(operations, skilltools.Search()), names
}

// rules returns the rules after the list of skills, for the tools that are chosen so far.
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
	case searches: // a long list leaves little room for rules
		rules = strings.Replace(rules, skilltools.SearchGuidance, "More skills: "+skilltools.SearchName+". "+suggestedNames, 1)
	default:
		rules += " " + suggestedNames
	}
	return rules
}

// suggestedNames explains the note that package turn adds to user messages.
const suggestedNames = "<skills_suggested> names likely ones."

// needsSearch reports whether to offer skill_search.
func (o *Offer) needsSearch(c *Choices, skills []core.Skill) bool {
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
