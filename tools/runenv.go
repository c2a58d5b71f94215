package tools

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/workspace"
)

// secret is a value that a skill was given and nobody may be told.
type secret struct{ name, value string }

// steering are beginnings of variables that make an allowed program run code of
// the caller's choice.
var steering = [...]string{"LD_", "DYLD_", "PYTHON", "PERL", "RUBY", "NODE_", "GIT_", "GCONV_", "JAVA_", "LUA_", "PHP", "R_"}

func steers(name string) bool {
	if name == "PATH" || name == "BASH_ENV" || name == "ENV" || name == "IFS" {
		return true
	}
	return slices.ContainsFunc(steering[:], func(s string) bool { return strings.HasPrefix(name, s) })
}

// environment is the whole environment of the command. Nothing of the host's
// is in it: first the host's additions for this skill, then the workspace's
// variables, then the call's, and last the secrets that the skill declares.
func (j *running) environment(ctx context.Context) ([]string, error) {
	var env []string
	if j.Env != nil {
		env = appendVars(env, j.Env(ctx, j.skill))
	}
	own := workspace.Env(j.seen(""), j.skill.Name, j.dir)
	env = append(env, own...)
	if j.restricted() || j.scope.Narrow {
		for name := range j.req.env {
			if steers(name) {
				return nil, tellf("env: %s cannot be set where commands are restricted", cut(name, 80))
			}
		}
		// The skill's .venv/bin is writable: what a command puts there must
		// not pass for an allowed program.
		_, system, _ := strings.Cut(lookup(own, "PATH"), string(filepath.ListSeparator))
		env = append(env, "PATH="+system)
	}
	env = appendVars(env, j.req.env)
	for _, v := range own { // where things are is not the call's to say
		if strings.Contains(v, "_DIR=") || strings.HasPrefix(v, "SKILL_NAME=") {
			env = append(env, v)
		}
	}
	if j.req.editor != "" {
		program, err := j.editorScript()
		if err != nil {
			return nil, err
		}
		env = append(env, "EDITOR="+program, "VISUAL="+program)
	}
	for _, s := range j.secretsOf(ctx, j.skill) {
		env = append(env, s.name+"="+s.value)
	}
	// What another loaded skill was given may be in the workspace too.
	var err error
	j.secrets, err = j.knownSecrets(ctx, j.scope)
	return env, err
}

// secretsOf are the secrets that a skill declares and the host gives.
func (r *Runner) secretsOf(ctx context.Context, skill core.Skill) []secret {
	if r.Secret == nil {
		return nil
	}
	var secrets []secret
	for _, name := range DeclaredSecrets(skill.Metadata) {
		if value, ok := r.Secret(ctx, name); ok {
			secrets = append(secrets, secret{name, value})
		}
	}
	return secrets
}

// knownSecrets are those of every skill of the catalog that asks for any: one
// that is no longer loaded may have left its own in a file.
func (r *Runner) knownSecrets(ctx context.Context, s *Scope) ([]secret, error) {
	if r.Secret == nil {
		return nil, nil
	}
	var secrets []secret
	for _, skill := range s.Catalog.Snapshot().Skills() {
		if skill.Metadata["secrets"] != "" {
			secrets = append(secrets, r.secretsOf(ctx, skill)...)
		}
	}
	return secrets, ctx.Err()
}

func appendVars(env []string, vars map[string]string) []string {
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+vars[name])
	}
	return env
}

// DeclaredSecrets are the names of the secrets that a skill asks for in the
// metadata field "secrets": a list, or names separated by commas or white
// space. Only names of environment variables count.
func DeclaredSecrets(metadata map[string]string) []string {
	text := metadata["secrets"]
	var names []string
	if json.Unmarshal([]byte(text), &names) != nil {
		names = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	}
	return slices.DeleteFunc(names, func(n string) bool {
		return n == "" || strings.ContainsFunc(n, func(r rune) bool {
			return r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
		})
	})
}

func (j *running) redact(text string) string { return redact(text, j.secrets) }

// redactCut is redact for a text that was cut at its end, or at its beginning:
// a part of a value that the cut has left there goes too.
func redactCut(text string, secrets []secret, atEnd bool) string {
	text = redact(text, secrets)
	for _, s := range secrets {
		for n := len(s.value) - 1; n > 0 && len(s.value) >= minSecret; n-- {
			if rest, ok := strings.CutSuffix(text, s.value[:n]); ok && atEnd {
				text = rest + "[" + s.name + "]"
				break
			}
			if rest, ok := strings.CutPrefix(text, s.value[len(s.value)-n:]); ok && !atEnd {
				text = "[" + s.name + "]" + rest
				break
			}
		}
	}
	return text
}

// redact takes the values of secrets out of a text.
func redact(text string, secrets []secret) string {
	for _, s := range secrets {
		if len(s.value) >= minSecret {
			text = strings.ReplaceAll(text, s.value, "["+s.name+"]")
		}
	}
	return text
}

// minSecret is the length from which a value is looked for: shorter ones stand
// in any text by accident.
const minSecret = 4
