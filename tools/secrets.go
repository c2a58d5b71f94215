package tools

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/redact"
	"github.com/satchel-go/satchel/outputs"
)

// secretsOf are the secrets that a skill declares and the host gives.
func (r *Runner) secretsOf(ctx context.Context, skill core.Skill) []redact.Secret {
	if r.Secret == nil {
		return nil
	}
	var secrets []redact.Secret
	for _, name := range DeclaredSecrets(skill.Metadata) {
		if value, ok := r.Secret(ctx, name); ok {
			secrets = append(secrets, redact.Secret{Name: name, Value: value})
		}
	}
	return secrets
}

// knownSecrets are those of every skill of the catalog that asks for any: one
// that is no longer loaded may have left its own in a file.
func (r *Runner) knownSecrets(ctx context.Context, s *Scope) ([]redact.Secret, error) {
	if r.Secret == nil {
		return nil, nil
	}
	var secrets []redact.Secret
	for _, skill := range s.Catalog.Snapshot().Skills() {
		if skill.Metadata["secrets"] != "" {
			secrets = append(secrets, r.secretsOf(ctx, skill)...)
		}
	}
	return secrets, ctx.Err()
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

// learnSecrets asks for what the command is given, and what no answer may show.
// Both are asked for once: a host may give another value each time.
func (j *running) learnSecrets(ctx context.Context) error {
	known, err := j.knownSecrets(ctx, j.scope)
	j.given = j.secretsOf(ctx, j.skill)
	j.secrets = append(known, j.given...)
	j.hidden = redact.NewSet(j.secrets)
	return err
}

// redact takes the secrets out of a text that is whole.
func (j *running) redact(text string) string { return j.hidden.Text(text, 0) }

// warn adds warnings about files. The secrets go before a name is quoted and
// cut: after that they would not be found.
func (j *running) warn(warnings []outputs.Warning) {
	for _, w := range warnings {
		j.warnings = append(j.warnings, outputs.Warning{Name: j.redact(w.Name), Text: j.redact(w.Text)}.String())
	}
}

// told is [told] for an error that may show what commands have left.
func (j *running) told(ctx context.Context, err error) error {
	var already tell
	if errors.As(err, &already) {
		return told(ctx, tell(j.redact(string(already))))
	}
	return told(ctx, errors.New(j.redact(err.Error())))
}
