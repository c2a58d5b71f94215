package satchel

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/tools/run"
)

// Tools are the tools to offer the model, in a fixed order. They are constant
// for the life of the runtime and depend neither on what is loaded nor on the
// catalog: a session that began while there was no skill to see is offered none of
// them, as core.View says. The caller must not change the slice.
func (r *Runtime) Tools() []core.Tool { return r.offered }

// toolNames returns the names of the runtime's own tools.
func (r *Runtime) toolNames() []string {
	names := make([]string, 0, len(r.offered))
	for _, t := range r.offered {
		names = append(names, t.Name)
	}
	return names
}

// executes reports whether the chosen tools run commands.
func (r *Runtime) executes() bool {
	if v := r.vocabulary; v != nil {
		return r.profile != tools.KnowledgeOnly && slices.ContainsFunc(v.Operations, func(o tools.Operation) bool {
			return o.Runs != nil && (r.tools == nil || slices.Contains(r.tools, o.Name))
		})
	}
	if r.tools == nil {
		return r.profile != tools.KnowledgeOnly
	}
	return slices.ContainsFunc(new(run.Runner).Operations(), func(o tools.Operation) bool { return slices.Contains(r.tools, o.Name) })
}

// choose builds the set of the tools that the options name, and of further ones.
func (r *Runtime) choose(further ...string) error {
	of := r.ofProfile
	if r.vocabulary != nil {
		of = r.ofVocabulary
	}
	operations, names, err := of()
	if err != nil {
		return err
	}
	names = append(names, further...)
	for _, o := range r.operations {
		operations, names = append(operations, o), append(names, o.Name)
	}
	set, err := tools.Choose(operations, names)
	if err != nil {
		return err
	}
	r.set, r.delivers = set, set.Delivers()
	return nil
}

// ofProfile returns Satchel's own operations, and the names of those that the options
// choose.
func (r *Runtime) ofProfile() (operations []tools.Operation, names []string, err error) {
	names = slices.Clone(r.tools)
	if r.tools == nil {
		if names, err = r.profile.Names(); err != nil {
			return nil, nil, err
		}
	}
	operations = append(tools.Default(), tools.Search())
	if r.runner == nil {
		return operations, names, nil
	}
	for _, o := range r.runner.Operations() {
		operations = append(operations, o)
		if r.tools == nil && r.profile != tools.KnowledgeOnly {
			names = append(names, o.Name)
		}
	}
	return operations, names, nil
}

// ofVocabulary is ofProfile for another vocabulary. What runs scripts in it is left out
// where nothing runs.
func (r *Runtime) ofVocabulary() (operations []tools.Operation, names []string, err error) {
	names = slices.Clone(r.tools)
	for _, o := range r.vocabulary.Operations {
		if o.Runs != nil {
			if r.runner == nil || r.profile == tools.KnowledgeOnly {
				continue
			}
			run := r.runner.Run()
			o.Request = func(args tools.Args) permission.Request { return run.Request(run.Decode(o.Runs(args))) }
			r.command = &run
		}
		if operations = append(operations, o); r.tools == nil {
			names = append(names, o.Name)
		}
	}
	if r.runner != nil { // for those who name them by WithOfferedTools
		operations = append(operations, r.runner.Operations()...)
	}
	return append(operations, tools.Search()), names, nil
}

// offer fixes the tools of the runtime. Where they search the catalog, its index is
// built meanwhile.
func (r *Runtime) offer() error {
	r.text.Pinned = r.pinned
	text := r.text
	text.Guidance = r.rules()
	if r.searches(text, r.catalog.Snapshot().Visible()) {
		if !r.set.Has(tools.SearchName) {
			if err := r.choose(tools.SearchName); err != nil {
				return err
			}
		}
		r.text.Search = tools.SearchName
		r.closers = append(r.closers, inBackground(r.catalog.Index))
	}
	r.offered = r.set.Tools()
	r.overviews = r.newOverviews()
	r.tellScanned(context.Background())
	return nil
}
