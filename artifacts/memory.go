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
	"time"
)

// ErrFull reports that a [Memory] has no room for an artifact within its MaxBytes. End
// sessions that are no longer needed, or raise the bound.
var ErrFull = errors.New("artifact store is full")

// Memory is a [Store] in the memory of the process. The zero value is ready for use; its
// fields must not change after the first call. If it has no room a Save fails, because an
// artifact that a host was promised must not vanish to make room for another.
type Memory struct {
	// Quota bounds what each session keeps. A Save beyond that fails with [ErrQuota], stores
	// nothing and uses up no version.
	Quota Quota
	// Retention is the age beyond which versions are removed. That happens during Saves in any
	// session, at most once in a tenth of it. 0 keeps everything until its session ends.
	Retention time.Duration
	// MaxBytes bounds what all sessions take together: contents, names, about 512 bytes for
	// each version, and contents that are being saved. Beyond it a Save fails with [ErrFull],
	// whatever its session. A few sessions can then take the room of all others, so set a
	// Quota that leaves enough room. 0 is no bound.
	MaxBytes int64

	clock

	mu       sync.Mutex // guards all below; nothing under it blocks
	used     int64
	sessions map[string]*memorySession
}

// memorySession is what is kept for one session. Its maps are empty once it has
// ended.
type memorySession struct {
	ended   bool
	writers int // Saves in progress
	names   map[string][]memoryVersion
	next    map[string]int // the next version of a name
	used    int64          // bytes taken by names, without the drafts of Saves in progress
	// What counts against the quota: the contents, with those drafts, and their number.
	bytes    int64
	versions int
}

type memoryVersion struct {
	info    Info
	content []byte // never changed
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store with the default quota. It needs no closing.
func NewMemory() *Memory { return &Memory{} }

// Save implements [Store]. It fails with [ErrQuota] for content beyond the quota
// of the session, and with [ErrFull] for content beyond the bound of the store;
// it stops reading there.
func (m *Memory) Save(ctx context.Context, session, name, mime string, content io.Reader, limit int64) (Info, error) {
	var info Info
	err := info.Begin(name, mime, content, limit)
	if err == nil {
		err = m.save(ctx, session, &info, content, limit)
	}
	if err != nil {
		return Info{}, fmt.Errorf("save artifact %.80q: %w", name, err)
	}
	return info, nil
}

func (m *Memory) save(ctx context.Context, session string, info *Info, content io.Reader, limit int64) error {
	if before, due := m.due(m.Retention); due {
		m.removeBefore(before)
	}
	s := m.enter(session)
	defer m.leave(session, s)
	d := &draft{m: m, s: s}
	defer d.discard()
	limit, tooMuch := m.Quota.Limit(limit)
	if err := info.Copy(ctx, d, content, limit, tooMuch); err != nil {
		return err
	}
	kept := bytes.Clone(d.content.Bytes()) // up to half of a buffer is spare

	m.mu.Lock()
	defer m.mu.Unlock()
	if s.ended {
		return ErrEnded
	}
	cost := versionCost + int64(len(info.Name))
	if m.MaxBytes > 0 && m.used+cost > m.MaxBytes {
		return m.full()
	}
	if err := m.Quota.Check(s.bytes, s.versions+1); err != nil {
		return err
	}
	s.versions++
	info.Version, info.Created = s.next[info.Name], m.time()
	s.next[info.Name]++
	s.names[info.Name] = append(s.names[info.Name], memoryVersion{info: *info, content: kept})
	m.used += cost
	s.used += cost + d.taken
	d.taken = 0 // the session counts it now
	return nil
}

func (m *Memory) full() error {
	return fmt.Errorf("%w: it holds %d bytes", ErrFull, m.MaxBytes)
}

// draft holds the content of a Save, and accounts for its room.
type draft struct {
	m       *Memory
	s       *memorySession
	content bytes.Buffer
	taken   int64
}

func (d *draft) Write(p []byte) (int, error) {
	if err := d.take(int64(len(p))); err != nil {
		return 0, err
	}
	return d.content.Write(p)
}

func (d *draft) take(n int64) error {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	if err := d.m.Quota.Check(d.s.bytes+n, d.s.versions); err != nil {
		return err
	}
	if d.m.MaxBytes > 0 && d.m.used+n > d.m.MaxBytes {
		return d.m.full()
	}
	d.s.bytes += n
	d.m.used += n
	d.taken += n
	return nil
}

// discard gives back the room that the draft still takes.
func (d *draft) discard() {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	d.m.used -= d.taken
	d.s.bytes -= d.taken
}

// enter returns the session, which it begins if necessary, so that a Save notices
// when the session ends.
func (m *Memory) enter(session string) *memorySession {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions == nil {
		m.sessions = map[string]*memorySession{}
	}
	s := m.sessions[session]
	if s == nil {
		s = &memorySession{names: map[string][]memoryVersion{}, next: map[string]int{}}
		m.sessions[session] = s
	}
	s.writers++
	return s
}

// leave removes a session if nothing was saved in it.
func (m *Memory) leave(session string, s *memorySession) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.writers--; s.writers == 0 && len(s.next) == 0 && m.sessions[session] == s {
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
	at := indexOf(versions, ref.Version)
	if at < 0 {
		return nil, Info{}, notFound(ref)
	}
	v := versions[at]
	return io.NopCloser(bytes.NewReader(v.content)), v.info, nil
}

func checkOpen(ctx context.Context, ref Ref) error {
	err := ctx.Err()
	if err == nil {
		err = ref.Check()
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
		s.ended, s.names, s.next, s.used = true, nil, nil, 0
	}
	return nil
}
