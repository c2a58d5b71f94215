package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// Info describes a session that has values in a store.
type Info struct {
	ID     string   `json:"id"`
	Agents []string `json:"agents"` // sorted
	// Changed is when one of its values was last saved.
	Changed time.Time `json:"changed"`
}

// Lister is a [Store] that can list its sessions. [Memory] and [Directory] can.
type Lister interface {
	Store

	// Sessions lists the sessions that have values, sorted by id. It leaves out sessions with a
	// [ReservedPrefix].
	Sessions(ctx context.Context) ([]Info, error)
}

var (
	_ Lister = (*Memory)(nil)
	_ Lister = (*Directory)(nil)
)

func sortInfos(all []Info) []Info {
	slices.SortFunc(all, func(a, b Info) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Sessions implements [Lister]. It does not count as a use of a session.
func (m *Memory) Sessions(ctx context.Context) ([]Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Info
	for id, s := range m.sessions.All() {
		if strings.HasPrefix(id, ReservedPrefix) || len(s.values) == 0 {
			continue
		}
		all = append(all, Info{ID: id, Agents: s.agents(), Changed: s.changed})
	}
	return sortInfos(all), nil
}

// Sessions implements [Lister]. It reads every session, so it is for maintenance and not for
// each request. It leaves out sessions that end while it runs, and agents whose value is
// damaged.
func (d *Directory) Sessions(ctx context.Context) ([]Info, error) {
	names, err := listNames(d.root, ".")
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var all []Info
	for _, name := range names {
		if !durable.IsName(name) {
			continue
		}
		one, err := d.readInfo(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		if one.ID != "" && !strings.HasPrefix(one.ID, ReservedPrefix) {
			all = append(all, one)
		}
	}
	return sortInfos(all), nil
}

// readInfo reads a session. The result has no ID if there is nothing to list.
func (d *Directory) readInfo(ctx context.Context, session string) (one Info, err error) {
	names, err := listNames(d.root, session)
	if errors.Is(err, fs.ErrNotExist) {
		return Info{}, ctx.Err()
	}
	if err != nil {
		return Info{}, err
	}
	for _, agent := range names {
		if !durable.IsName(agent) {
			continue
		}
		c, h, err := d.openValue(ctx, session, agent)
		if errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return Info{}, err
		}
		if h.entry == nil {
			c.close()
			continue
		}
		if info, err := c.gen.Stat("."); err == nil && info.ModTime().After(one.Changed) {
			one.Changed = info.ModTime()
		}
		c.close()
		one.ID = h.entry.key.Session
		one.Agents = append(one.Agents, h.entry.key.Agent)
	}
	slices.Sort(one.Agents)
	return one, ctx.Err()
}
