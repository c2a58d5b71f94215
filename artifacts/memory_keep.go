package artifacts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// Sessions implements [Store].
func (m *Memory) Sessions(ctx context.Context) ([]Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Session
	for id, s := range m.sessions {
		one := Session{ID: id}
		for _, versions := range s.names {
			for _, v := range versions {
				one.add(v.info)
			}
		}
		if one.Versions > 0 {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, compareSession)
	return all, nil
}

func compareSession(a, b Session) int { return cmp.Compare(a.ID, b.ID) }

// add adds a version to the totals of the session.
func (s *Session) add(info Info) {
	s.Bytes += info.Size
	s.Versions++
	if info.Created.After(s.Latest) {
		s.Latest = info.Created
	}
}

// Remove implements [Store].
func (m *Memory) Remove(ctx context.Context, session string, ref Ref) error {
	if err := checkRef(ctx, ref); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[session]; s != nil {
		if at := indexOf(s.names[ref.Name], ref.Version); at >= 0 {
			m.remove(s, ref.Name, at)
			return nil
		}
	}
	return fmt.Errorf("remove %.120q: %w", ref, ErrNotFound)
}

// indexOf returns the index of a version, or -1. A negative version means the last one.
func indexOf(versions []memoryVersion, version int) int {
	if version < 0 {
		return len(versions) - 1
	}
	return slices.IndexFunc(versions, func(v memoryVersion) bool { return v.info.Version == version })
}

// remove removes a version. The caller holds m.mu.
func (m *Memory) remove(s *memorySession, name string, at int) {
	v := s.names[name][at]
	cost := versionCost + int64(len(name)) + v.info.Size
	m.used -= cost
	s.used -= cost
	s.bytes -= v.info.Size
	s.versions--
	if s.names[name] = slices.Delete(s.names[name], at, at+1); len(s.names[name]) == 0 {
		delete(s.names, name)
	}
}

// RemoveBefore implements [Store].
func (m *Memory) RemoveBefore(ctx context.Context, before time.Time) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return m.removeBefore(before), nil
}

func (m *Memory) removeBefore(before time.Time) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	removed := 0
	for id, s := range m.sessions {
		for name := range s.names {
			for at := len(s.names[name]) - 1; at >= 0; at-- {
				if s.names[name][at].info.Created.Before(before) {
					m.remove(s, name, at)
					removed++
				}
			}
		}
		if len(s.names) == 0 && s.writers == 0 {
			delete(m.sessions, id)
		}
	}
	return removed
}
