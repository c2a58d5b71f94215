package run

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// Job is a skill or code to run.
type Job struct {
	Tenant, ID string
	// Skill is the action to execute. If it is nil, Code is executed.
	Skill *skillset.Skill
	// Language is "python", "javascript" or "bash". Run sets it for a Skill.
	Language, Code string
	// Function is called with Args. Run sets it for a Skill.
	Function string
	Args     json.RawMessage // an object; nil is {}
	// Mounted are the skills that the code may import; Skill need not be among them.
	Mounted []*skillset.Skill
	// Inputs are blobs that the program finds as files.
	Inputs  []blobs.Info
	Timeout time.Duration
	// Grant is what the run may use besides its files; the zero Grant is nothing.
	Grant Grant
	// Progress, if not nil, is called at each stage of the run and when the program reports
	// progress. It must not block.
	Progress func(stage, message string)
}

// Grant holds the network, secrets and variables of a run.
type Grant struct {
	// Env are variables, as NAME=value; Secrets are files below /run/secrets.
	Env     []string
	Secrets map[string]string
	// Listen are ports that the host serves inside, such as that of a proxy.
	Listen map[uint16]func(net.Listener)
	// Hidden are values that are replaced in the output and the blobs of the run.
	Hidden []Hidden
	// Warnings are reported with the result.
	Warnings []string
	// Close is called when the run has ended; nil is nothing.
	Close func()
}

// Hidden is a value, such as a secret, and the name that replaces it: "[Name]".
type Hidden struct{ Name, Value string }

// The stages of a run, in their order.
const (
	StageQueued     = "queued"
	StageStaging    = "staging"
	StageRunning    = "running"
	StageCollecting = "collecting"
)

// Module returns the name by which a program imports a skill, below "skills.".
func Module(id string) string { return strings.ReplaceAll(id, "-", "_") }

// skills returns the skills that the run shows, each once.
func (j *Job) skills() []*skillset.Skill {
	if j.Skill == nil || slices.Contains(j.Mounted, j.Skill) {
		return j.Mounted
	}
	return append([]*skillset.Skill{j.Skill}, j.Mounted...)
}

// checkInputs compares the arguments with the inputs of the skill, and adds defaults.
func (j *Job) checkInputs() *Failure {
	if j.Skill == nil || len(j.Skill.Inputs) == 0 {
		return nil
	}
	var args map[string]json.RawMessage // large numbers stay as they came
	if len(j.Args) > 0 {
		if err := json.Unmarshal(j.Args, &args); err != nil {
			return &Failure{TypeInvalidInput, "args: want an object"}
		}
	}
	hasDefaults := false
	for _, in := range j.Skill.Inputs {
		var value any
		_ = json.Unmarshal(args[in.Name], &value) // null is absent
		switch {
		case value != nil:
			if why := in.Check(value); why != "" {
				return &Failure{TypeInvalidInput, fmt.Sprintf("args.%s: %s", in.Name, withDescription(why, in))}
			}
		case in.Default != nil:
			text, err := json.Marshal(in.Default)
			if err != nil {
				return &Failure{TypeInvalidInput, fmt.Sprintf("args.%s: its default is not JSON", in.Name)}
			}
			if args == nil {
				args = make(map[string]json.RawMessage)
			}
			args[in.Name], hasDefaults = text, true
		case in.Required:
			return &Failure{TypeInvalidInput, fmt.Sprintf("args.%s is missing: %s", in.Name, withDescription("want "+cmp.Or(in.Type, "a value"), in))}
		}
	}
	if hasDefaults {
		j.Args, _ = json.Marshal(args) // never fails: the values are valid JSON
	}
	return nil
}

// withDescription adds the description of the input to the reason why an argument is wrong.
func withDescription(why string, in skillset.Input) string {
	if in.Description != "" {
		why += ", " + in.Description
	}
	return why
}
