package library

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/tools"
)

// runFields are the fields of the actions of runSkill, beside "action".
var runFields = map[string][]string{
	"list":    {"query", "source", "activeOnly", "limit", "cursor"},
	"inspect": {"skill", "version", "path", "view", "part"},
	"run":     {"skill", "parameters", "docs", "part"},
}

// updateFields are the fields of the actions of updateSkill, beside "action", "reason" and "dryRun".
var updateFields = map[string][]string{
	"create":   {"name", "description", "content", "category", "triggers", "toolHints", "metadata", "private", "draft"},
	"patch":    {"skill", "expectedVersionRef", "target", "patchFormat", "patch", "edits"},
	"replace":  {"skill", "expectedVersionRef", "target", "content"},
	"metadata": {"skill", "expectedVersionRef", "description", "category", "triggers", "toolHints", "status", "metadata"},
	"copy":     {"skill", "name", "private"},
	"archive":  {"skill", "expectedVersionRef"},
}

// checkFields fails if a call has a field that belongs to other actions only. The error is
// a tools.ModelError.
func checkFields(args tools.Args, action string, of map[string][]string) error {
	var others []string
	for _, fields := range of {
		others = append(others, fields...)
	}
	slices.Sort(others)
	for _, name := range slices.Compact(others) {
		if args.Given(name) && !slices.Contains(of[action], name) {
			return tools.ModelErrorf("%s has no field %q; it has %s", action, name, strings.Join(of[action], ", "))
		}
	}
	return nil
}
