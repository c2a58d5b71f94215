package call

import (
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/tools/run"
)

// Offer says what is offered. The host's options fill the fields above Set. Choose sets
// Set and Command; List changes how the skills are listed.
type Offer struct {
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
	// Text is how the skills are listed. Renderer, unless it is nil, lists them instead,
	// and Guidance replaces the rules of the tools.
	Text     processors.OverviewText
	Renderer func([]core.Skill) string
	Guidance *string
	// Search says whether skill_search is offered. Nil leaves that to the room for the
	// list.
	Search *bool
	// Suggests reports that messages of users come with skills that they may mean.
	Suggests bool

	// Set are the chosen tools.
	Set *tools.Set
	// Command is skill_run if the tools of Vocabulary run scripts by it, else nil.
	Command *tools.Operation
}

// ShowsFiles implements [view.ReadCalls].
func (o *Offer) ShowsFiles(tool string) bool { return o.Set.ShowsFiles(tool) }

// ShowsFile implements [view.ReadCalls].
func (o *Offer) ShowsFile(call *core.ToolCall) bool { return o.Set.ShowsFile(call, o.Runner != nil) }

// Executes reports whether the chosen tools run commands.
func (o *Offer) Executes() bool {
	if v := o.Vocabulary; v != nil {
		return o.Profile != tools.KnowledgeOnly && slices.ContainsFunc(v.Operations, func(op tools.Operation) bool {
			return op.RunArguments != nil && (o.Names == nil || slices.Contains(o.Names, op.Name))
		})
	}
	if o.Names == nil {
		return o.Profile != tools.KnowledgeOnly
	}
	return slices.ContainsFunc(new(run.Runner).Operations(), func(op tools.Operation) bool { return slices.Contains(o.Names, op.Name) })
}

// IsOwn reports whether a name is that of one of Satchel's tools, offered or not, or of
// an operation of the host or of an extension.
func (o *Offer) IsOwn(name string) bool {
	if name == "skill_update" { // of a module of Satchel, also where that is not there
		return true
	}
	operations := append(append(tools.Default(), tools.Search()), new(run.Runner).Operations()...)
	if o.Vocabulary != nil {
		operations = append(operations, o.Vocabulary.Operations...)
	}
	return slices.ContainsFunc(append(operations, o.Further...), func(op tools.Operation) bool { return op.Name == name })
}

// Choose builds the set of the tools that the options name, and of further ones.
func (o *Offer) Choose(further ...string) error {
	of := o.ofProfile
	if o.Vocabulary != nil {
		of = o.ofVocabulary
	}
	operations, names, err := of()
	if err != nil {
		return err
	}
	names = append(names, further...)
	for _, op := range o.Further {
		operations, names = append(operations, op), append(names, op.Name)
	}
	for _, bind := range o.Binds {
		for i := range operations {
			operations[i] = bind(operations[i])
		}
	}
	o.Set, err = tools.Choose(operations, names)
	return err
}

// ofProfile returns Satchel's own operations, and the names of those that the options
// choose.
func (o *Offer) ofProfile() (operations []tools.Operation, names []string, err error) {
	names = slices.Clone(o.Names)
	if o.Names == nil {
		if names, err = o.Profile.Names(); err != nil {
			return nil, nil, err
		}
	}
	operations = append(tools.Default(), tools.Search())
	if o.Runner == nil {
		return operations, names, nil
	}
	for _, op := range o.Runner.Operations() {
		operations = append(operations, op)
		if o.Names == nil && o.Profile != tools.KnowledgeOnly {
			names = append(names, op.Name)
		}
	}
	return operations, names, nil
}

// ofVocabulary is ofProfile for another vocabulary. Tools that run scripts are left out if
// commands cannot run, and so are those that extensions omit.
func (o *Offer) ofVocabulary() (operations []tools.Operation, names []string, err error) {
	names = slices.Clone(o.Names)
	for _, op := range o.Vocabulary.Operations {
		if slices.Contains(o.Omitted, op.Name) {
			continue
		}
		if op.RunArguments != nil {
			if o.Runner == nil || o.Profile == tools.KnowledgeOnly {
				continue
			}
			run := o.Runner.Run()
			op.Request = func(args tools.Args) permission.Request { return run.Request(run.Decode(op.RunArguments(args))) }
			o.Command = &run
		}
		if operations = append(operations, op); o.Names == nil {
			names = append(names, op.Name)
		}
	}
	if o.Runner != nil { // for those who name them by Tools.Names
		operations = append(operations, o.Runner.Operations()...)
	}
	return append(operations, tools.Search()), names, nil
}
