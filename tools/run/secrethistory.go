package run

import (
	"slices"
	"sync"

	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/internal/lru"
)

// maxGiven bounds in bytes the secrets that a secretHistory holds, and maxGivenEach their
// number in one session.
const maxGiven, maxGivenEach = 1 << 20, 64

// secretHistory holds the secrets that commands got, by session. A skill may have left one in a
// file, and then be changed or removed. The newest values stay.
type secretHistory struct {
	mu       sync.Mutex
	sessions *lru.Cache[string, []terminal.Secret]
}

// remember creates the history of secrets that commands have got.
func (r *Runner) remember() {
	if r.history == nil {
		r.history = &secretHistory{sessions: lru.New[string, []terminal.Secret](maxGiven, nil)}
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
	all = all[max(0, len(all)-maxGivenEach):]
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
