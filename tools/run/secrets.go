package run

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/internal/text/redact"
)

// secretSource returns the secrets of skills, from the host and from the history.
type secretSource struct {
	ask     func(ctx context.Context, skill core.Skill, name string) (value string, ok bool) // nil has none
	history *secretHistory
}

// secretsOf returns the secrets that a skill declares and the host grants.
func (v secretSource) secretsOf(ctx context.Context, skill core.Skill) []terminal.Secret {
	if v.ask == nil {
		return nil
	}
	var secrets []terminal.Secret
	for _, name := range declaredSecrets(skill) {
		if value, ok := v.ask(ctx, skill, name); ok {
			secrets = append(secrets, terminal.Secret{Name: name, Value: value})
		}
	}
	return secrets
}

// knownSecrets returns the secrets that commands of the session got, and those of every skill of
// the catalog that declares any. Skills that are not loaded or not visible count too, because a
// command may have left a secret in a file. So do older revisions that are loaded.
func (v secretSource) knownSecrets(ctx context.Context, s *skilltools.Scope) ([]terminal.Secret, error) {
	if v.ask == nil {
		return nil, nil
	}
	var secrets []terminal.Secret
	if v.history != nil {
		secrets = v.history.in(s.Key().Session)
	}
	for _, skill := range s.Catalog().WithoutAudience().Snapshot().Skills() {
		if len(declaredSecrets(skill)) > 0 {
			secrets = append(secrets, v.secretsOf(ctx, skill)...)
		}
	}
	rec, err := s.Record(ctx)
	if err != nil {
		return nil, err
	}
	loaded := s.LoadedCatalog(rec)
	for i := range rec.Active {
		if a := &rec.Active[i]; a.Revision != "" {
			if skill, err := loaded.FrontMatter(ctx, a.Skill); err == nil && skill.Revision == a.Revision { // else it runs nothing
				secrets = append(secrets, v.secretsOf(ctx, skill)...)
			}
		}
	}
	return secrets, ctx.Err()
}

// declaredSecrets returns the names of secrets that a skill declares: in its metadata field
// "secrets", and the variables of its needs. The field is a JSON list, or names separated by commas
// or white space. Only names of environment variables count. The needs of a skill that no person
// has reviewed ask for no secrets.
func declaredSecrets(skill core.Skill) []string {
	names := slices.DeleteFunc(metadataList(skill.Metadata["secrets"]), func(n string) bool {
		return n == "" || strings.ContainsFunc(n, func(r rune) bool {
			return r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
		})
	})
	if skill.Unreviewed {
		return names
	}
	for _, name := range skill.Needs.Declared() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// metadataList parses a metadata field: a JSON list, or words separated by commas or white space.
func metadataList(text string) []string {
	var words []string
	if json.Unmarshal([]byte(text), &words) != nil {
		words = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	}
	return words
}

// learnSecrets gets the secrets of the command, and those that no answer may show. It calls the
// host once for both, because the host may return another value each time.
func (st *staging) learnSecrets(ctx context.Context) error {
	source := secretSource{st.runner.Secret, st.runner.history}
	known, err := source.knownSecrets(ctx, st.scope)
	st.secrets = source.secretsOf(ctx, st.skill)
	source.history.add(st.scope.Key().Session, st.secrets)
	st.notes.secrets = append(known, st.secrets...)
	if st.network != nil {
		st.secrets = st.network.hideSecrets(st.secrets, st.notes)
		st.notes.secrets = append(st.notes.secrets, st.secrets...)
	}
	st.notes.hidden = redact.NewSet(st.notes.secrets)
	return err
}

// secretHistory holds the newest secrets that commands got, by session. A skill may have left a
// secret in a file before it was changed or removed.
type secretHistory struct {
	mu       sync.Mutex
	sessions *lru.Cache[string, []terminal.Secret]
}

// initHistory creates the history of secrets, unless it exists.
func (r *Runner) initHistory() {
	if r.history == nil {
		r.history = &secretHistory{sessions: lru.New[string, []terminal.Secret](maxSecretBytes, nil)}
	}
}

func (g *secretHistory) add(session string, secrets []terminal.Secret) {
	if len(secrets) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	before, _ := g.sessions.Get(session)
	all := slices.DeleteFunc(slices.Clone(before), func(s terminal.Secret) bool { return slices.Contains(secrets, s) })
	all = append(all, secrets...)
	all = all[max(0, len(all)-maxSessionSecrets):]
	weight := len(session)
	for _, s := range all {
		weight += len(s.Name) + len(s.Value)
	}
	g.sessions.Put(session, all, weight)
}

func (g *secretHistory) in(session string) []terminal.Secret {
	g.mu.Lock()
	defer g.mu.Unlock()
	secrets, _ := g.sessions.Get(session)
	return slices.Clone(secrets)
}
