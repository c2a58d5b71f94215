package skillneeds

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// HidesFromModel reports whether an [AgentFile] says that the model may not load the skill by
// itself: policy.allow_implicit_invocation is false. A value that is neither true nor false counts
// as false, because the author meant to restrict something.
func HidesFromModel(text []byte) (hides bool, problems []Problem) {
	if len(text) > MaxAgentFile {
		return false, nil // ReadAgentFile says it
	}
	root := decode(text)
	if root == nil {
		return false, nil
	}
	n := field(field(root, "policy"), "allow_implicit_invocation")
	if n == nil || isNull(n) {
		return false, nil
	}
	if n.Kind == yaml.ScalarNode {
		switch strings.ToLower(strings.TrimSpace(n.Value)) {
		case "true", "yes", "on":
			return false, nil
		case "false", "no", "off":
			return true, nil
		}
	}
	var r reader
	r.note(n.Line, "policy.allow_implicit_invocation is neither true nor false and is read as false")
	return true, r.problems
}
