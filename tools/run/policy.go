package run

import (
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/internal/text/shellcmd"
)

// errPolicy reports a list of commands that names none.
var errPolicy = errors.New("invalid command policy")

// Policy restricts skill_run and skill_exec to one simple command whose name it
// allows: no shell syntax, no path. The zero Policy restricts nothing.
//
// A list of allowed names is a boundary. A list of denied names is only advice to
// a well-meaning model, because an interpreter such as python3 can start any
// program.
type Policy struct {
	// Allowed, if it is not empty, are the only names that may run.
	Allowed []string
	// Denied names may not run, even if Allowed has them. Programs that run
	// another program named by their arguments may not run either.
	Denied []string
	// Variables are the names that a call may set with env while commands are restricted.
	// LANG, LC_* and TZ are always allowed with values that name no file. Other variables are
	// refused, because many make an allowed program run code of the caller's choice.
	Variables []string
}

func (p Policy) shell() shellcmd.Policy {
	return shellcmd.Policy{Allowed: p.Allowed, Denied: p.Denied}
}

// ParsePolicy reads the two lists of a policy, names separated by commas or white
// space. An empty text is no list. A text that is not empty but names nothing is
// [errPolicy], because its author would be surprised if it restricted nothing.
func ParsePolicy(allowed, denied string) (Policy, error) {
	p := Policy{Allowed: shellcmd.ParseList(allowed), Denied: shellcmd.ParseList(denied)}
	if len(p.Allowed) == 0 && allowed != "" || len(p.Denied) == 0 && denied != "" {
		return p, fmt.Errorf("%w: a list names no command", errPolicy)
	}
	return p, nil
}

// The variables that [PolicyFromEnv] reads.
const (
	EnvAllowed = "SATCHEL_RUN_ALLOWED_COMMANDS"
	EnvDenied  = "SATCHEL_RUN_DENIED_COMMANDS"
)

// PolicyFromEnv reads a policy from [EnvAllowed] and [EnvDenied], as [ParsePolicy]
// does; env is os.Getenv or the like. The error names the variable.
func PolicyFromEnv(env func(string) string) (Policy, error) {
	for _, name := range []string{EnvAllowed, EnvDenied} {
		if _, err := ParsePolicy(env(name), ""); err != nil {
			return Policy{}, fmt.Errorf("%w: %s is set and names no command", errPolicy, name)
		}
	}
	return ParsePolicy(env(EnvAllowed), env(EnvDenied))
}

// Restricts reports whether the policy has a list.
func (p Policy) Restricts() bool { return p.shell().Restricts() }

func (p Policy) check(command, path string) (shellcmd.Simple, error) {
	return p.shell().Check(command, path)
}
