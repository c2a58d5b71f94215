package artifacts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// DefaultMaxBytes is what a [Memory] holds unless [WithMaxBytes] says
// otherwise: 256 MiB.
const DefaultMaxBytes = 256 << 20

// ErrFull reports that a [Memory] has no room for an artifact. End sessions
// that are over, or raise the bound.
var ErrFull = errors.New("artifact store is full")

// versionCost stands for what a version takes beside its content and name, so
// that any number of empty artifacts is bounded too.
const versionCost = 512

// Memory is a [Store] that lives and dies with the process. It holds a bounded
// number of bytes; what does not fit fails with [ErrFull], because an artifact
// that a host was promised must not vanish to make room for another.
type Memory struct {
	max int64

	mu       sync.Mutex // guards all below; nothing under it blocks
	used     int64
	sessions map[string]*memorySession
}

// memorySession is what is kept for one session. The maps hold nothing once it
// has ended.
type memorySession struct {
	ended   bool
	writers int   // Saves under way
	used    int64 // by names, without the drafts of the Saves
	names   map[string][]memoryVersion
}

type memoryVersion struct {
	info    Info
	content []byte // never changed
}

var _ Store = (*Memory)(nil)

// MemoryOption configures [NewMemory].
type MemoryOption func(*Memory)

// WithMaxBytes bounds what all sessions together take: contents, names, about
// 512 bytes for each version, and contents that are being saved. 0 or less
// removes the bound. The default is [DefaultMaxBytes].
func WithMaxBytes(n int64) MemoryOption {
	return func(m *Memory) { m.max = n }
}

// NewMemory returns an empty store in memory. It needs no closing.
func NewMemory(opts ...MemoryOption) *Memory {
	m := &Memory{max: DefaultMaxBytes, sessions: map[string]*memorySession{}}
	for _, o := range opts {
		o(m)
	}
	return m
}

// Save implements [Store]. Content beyond the bound of the store fails with
// [ErrFull]; reading stops there.
func (m *Memory) Save(ctx context.Context, session, name, mime string, content io.Reader, limit int64) (Info, error) {
	info, err := newInfo(name, mime, content, limit)
	if err == nil {
		err = m.save(ctx, session, &info, content, limit)
	}
	if err != nil {
		return Info{}, fmt.Errorf("save artifact %.80q: %w", name, err)
	}
	return info, nil
}

func (m *Memory) save(ctx context.Context, session string, info *Info, content io.Reader, limit int64) error {
	s := m.enter(session)
	defer m.leave(session, s)
	d := &draft{m: m}
	defer d.discard()
	if err := stream(ctx, d, info, content, limit); err != nil {
		return err
	}
	kept := bytes.Clone(d.content.Bytes()) // a buffer has up to half of it spare

	m.mu.Lock()
	defer m.mu.Unlock()
	if s.ended {
		return ErrEnded
	}
	cost := versionCost + int64(len(info.Name))
	if m.max > 0 && m.used+cost > m.max {
		return m.full()
	}
	info.Version = len(s.names[info.Name])
	s.names[info.Name] = append(s.names[info.Name], memoryVersion{info: *info, content: kept})
	m.used += cost
	s.used += cost + d.taken
	d.taken = 0 // the session has it now
	return nil
}

func (m *Memory) full() error {
	return fmt.Errorf("%w: it holds %d bytes", ErrFull, m.max)
}

// draft takes the content of a Save and the room for it.
type draft struct {
	m       *Memory
	content bytes.Buffer
	taken   int64
}

func (d *draft) Write(p []byte) (int, error) {
	d.m.mu.Lock()
	fits := d.m.max <= 0 || d.m.used+int64(len(p)) <= d.m.max
	if fits {
		d.m.used += int64(len(p))
		d.taken += int64(len(p))
	}
	d.m.mu.Unlock()
	if !fits {
		return 0, d.m.full()
	}
	return d.content.Write(p)
}

// discard gives back what the draft still holds.
func (d *draft) discard() {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	d.m.used -= d.taken
}

// enter returns the session, begun if need be, so that a Save knows when it
// ends.
func (m *Memory) enter(session string) *memorySession {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		s = &memorySession{names: map[string][]memoryVersion{}}
		m.sessions[session] = s
	}
	s.writers++
	return s
}

// leave drops a session in which nothing was saved.
func (m *Memory) leave(session string, s *memorySession) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.writers--; s.writers == 0 && len(s.names) == 0 && m.sessions[session] == s {
		delete(m.sessions, session)
	}
}

// Open implements [Store].
func (m *Memory) Open(ctx context.Context, session string, ref Ref) (io.ReadCloser, Info, error) {
	if err := checkOpen(ctx, ref); err != nil {
		return nil, Info{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var versions []memoryVersion
	if s := m.sessions[session]; s != nil {
		versions = s.names[ref.Name]
	}
	at := ref.Version
	if at < 0 {
		at = len(versions) - 1
	}
	if at < 0 || at >= len(versions) {
		return nil, Info{}, notFound(ref)
	}
	v := versions[at]
	return io.NopCloser(bytes.NewReader(v.content)), v.info, nil
}

func checkOpen(ctx context.Context, ref Ref) error {
	err := ctx.Err()
	if err == nil {
		err = CheckName(ref.Name)
	}
	if err != nil {
		return fmt.Errorf("open artifact: %w", err)
	}
	return nil
}

func notFound(ref Ref) error { return fmt.Errorf("open %.120q: %w", ref, ErrNotFound) }

// List implements [Store].
func (m *Memory) List(ctx context.Context, session string) ([]Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Info
	if s := m.sessions[session]; s != nil {
		for _, versions := range s.names {
			for _, v := range versions {
				all = append(all, v.info)
			}
		}
	}
	slices.SortFunc(all, compareInfo)
	return all, nil
}

func compareInfo(a, b Info) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
}

// End implements [Store].
func (m *Memory) End(ctx context.Context, session string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[session]; s != nil {
		delete(m.sessions, session)
		m.used -= s.used
		s.ended, s.names, s.used = true, nil, 0
	}
	return nil
}
