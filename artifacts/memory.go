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

// ErrFull reports that a [Memory] has no room for an artifact within its MaxBytes. The host
// ends sessions that it no longer needs, or raises MaxBytes.
var ErrFull = errors.New("artifact store is full")

// Memory is a [Store] in the memory of the process. The zero value is ready for use; its fields
// must not change after the first call. If there is no room, a Save fails. Memory never removes
// an acknowledged artifact to make room for another.
type Memory struct {
	// Quota limits what the store keeps for each session. A Save beyond it fails with [ErrQuota],
	// stores nothing and uses up no version.
	Quota Quota
	// Retention is the age above which versions are removed. A Save in any session removes them,
	// at most once in a tenth of that time. 0 keeps everything until its session ends.
	Retention time.Duration
	// MaxBytes limits the memory for all sessions together: contents, names, about 512 bytes for
	// each version, and the contents of Saves in progress. A Save beyond it fails with [ErrFull],
	// whatever its session. A few sessions can use up the room of all others, so a host should
	// set a Quota well below it. 0 means no limit.
	MaxBytes int64

	clock

	mu       sync.Mutex // guards the fields below; held for short operations only
	used     int64
	sessions map[string]*memorySession
}

// memorySession holds the artifacts of one session. After its end the maps are nil.
type memorySession struct {
	isEnded bool
	writers int // Saves in progress
	names   map[string][]memoryVersion
	next    map[string]int // the next version of a name
	used    int64          // what names counts in Memory.used; Saves in progress are not in it
	// bytes and versions count for the quota; bytes includes Saves in progress.
	bytes    int64
	versions int
}

type memoryVersion struct {
	info    Info
	content []byte // never changed
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store with the default quota. It needs no Close.
func NewMemory() *Memory { return &Memory{} }

// Save implements [Store]. It fails with [ErrQuota] beyond the quota of the session, and with
// [ErrFull] beyond MaxBytes, and stops reading at that point.
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
	stored := bytes.Clone(d.content.Bytes()) // a copy, because up to half of the buffer is unused

	m.mu.Lock()
	defer m.mu.Unlock()
	if s.isEnded {
		return ErrEnded
	}
	cost := versionCost + int64(len(info.Name))
	if m.MaxBytes > 0 && m.used+cost > m.MaxBytes {
		return m.fullError()
	}
	if err := m.Quota.Check(s.bytes, s.versions+1); err != nil {
		return err
	}
	s.versions++
	info.Version, info.Created = s.next[info.Name], m.time()
	s.next[info.Name]++
	s.names[info.Name] = append(s.names[info.Name], memoryVersion{info: *info, content: stored})
	m.used += cost
	s.used += cost + d.reserved
	d.reserved = 0 // now part of s.used
	return nil
}

func (m *Memory) fullError() error {
	return fmt.Errorf("%w: it holds %d bytes", ErrFull, m.MaxBytes)
}

// draft holds the content of a Save in progress, and reserves memory for it.
type draft struct {
	m        *Memory
	s        *memorySession
	content  bytes.Buffer
	reserved int64
}

func (d *draft) Write(p []byte) (int, error) {
	if err := d.reserve(int64(len(p))); err != nil {
		return 0, err
	}
	return d.content.Write(p)
}

// reserve reserves n bytes, or returns an error if a limit is reached.
func (d *draft) reserve(n int64) error {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	if err := d.m.Quota.Check(d.s.bytes+n, d.s.versions); err != nil {
		return err
	}
	if d.m.MaxBytes > 0 && d.m.used+n > d.m.MaxBytes {
		return d.m.fullError()
	}
	d.s.bytes += n
	d.m.used += n
	d.reserved += n
	return nil
}

// discard releases the memory that the draft still reserves.
func (d *draft) discard() {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	d.m.used -= d.reserved
	d.s.bytes -= d.reserved
}

// enter returns the session, which it creates if necessary, and counts a Save in it.
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

// leave ends a Save in a session. It removes the session if it has had no version.
func (m *Memory) leave(session string, s *memorySession) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.writers--; s.writers == 0 && len(s.next) == 0 && m.sessions[session] == s {
		delete(m.sessions, session)
	}
}

// Open implements [Store].
func (m *Memory) Open(ctx context.Context, session string, ref Ref) (io.ReadCloser, Info, error) {
	if err := checkRef(ctx, ref); err != nil {
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
		return nil, Info{}, notFoundError(ref)
	}
	v := versions[at]
	return io.NopCloser(bytes.NewReader(v.content)), v.info, nil
}

func checkRef(ctx context.Context, ref Ref) error {
	err := ctx.Err()
	if err == nil {
		err = ref.Check()
	}
	if err != nil {
		return fmt.Errorf("open artifact: %w", err)
	}
	return nil
}

func notFoundError(ref Ref) error { return fmt.Errorf("open %.120q: %w", ref, ErrNotFound) }

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
		s.isEnded, s.names, s.next, s.used = true, nil, nil, 0
	}
	return nil
}
