package mcpsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/lazyfs"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/skillmd"
)

// Source holds the skills of one server. Make one with [Open], give Root to a catalog,
// and close it after the catalog. It is safe for concurrent use.
type Source struct {
	label   string
	session *mcp.ClientSession
	config

	announcesChanges bool // the server reports when its resources change

	mu          sync.Mutex
	skills      map[string]*skill // the last listing, by id
	texts       *lru.Cache[string, []byte]
	watchers    map[int]func()
	lastWatcher int // the key of the last watcher
}

var _ source.Notifier = (*Source)(nil)

type config struct {
	uris   []string
	skills int
	bytes  int
	wait   time.Duration
}

// Option changes how [Open] reads a server.
type Option func(*config) error

// WithURIs adds skills that the server does not list. uris are the URIs of their SKILL.md.
func WithURIs(uris ...string) Option {
	return func(s *config) error { s.uris = append(s.uris, uris...); return nil }
}

var labels = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// Open connects to a server. The label is the host's name for it: 1 to 32 of a-z, 0-9 and "-". The
// server's own name is not used. Use [HTTP] or [Command] for the transport: these bound the
// messages of the server. At most 1,000 skills are listed, and 64 MiB of files are kept in memory.
func Open(ctx context.Context, label string, transport mcp.Transport, opts ...Option) (*Source, error) {
	if !labels.MatchString(label) {
		return nil, fmt.Errorf("label %q: want 1 to 32 of a-z, 0-9 and -", label)
	}
	s := &Source{label: label, watchers: make(map[int]func()), config: config{skills: maxSkills, bytes: cacheBytes, wait: answerTime}}
	for _, opt := range opts {
		if err := opt(&s.config); err != nil {
			return nil, fmt.Errorf("MCP server %q: %w", label, err)
		}
	}
	s.texts = lru.New[string, []byte](max(s.bytes, 1), nil)
	client := mcp.NewClient(&mcp.Implementation{Name: "satchel", Version: "1"}, &mcp.ClientOptions{
		Capabilities:               &mcp.ClientCapabilities{},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { s.callWatchers() },
	})
	err := errors.Join(
		mcp.AddSendingCustomMethod[*listParams, *listResult](client, "skills/list"),
		mcp.AddSendingCustomMethod[*getParams, *getResult](client, "skills/get"),
	)
	if err != nil {
		return nil, err
	}
	if s.session, err = withTimeout(ctx, s.wait, func(ctx context.Context) (*mcp.ClientSession, error) {
		return client.Connect(ctx, transport, nil)
	}); err != nil {
		return nil, fmt.Errorf("MCP server %q: %w", label, err)
	}
	info := s.session.InitializeResult()
	if info == nil || info.Capabilities == nil || info.Capabilities.Extensions[extension] == nil {
		return nil, errors.Join(fmt.Errorf("MCP server %q serves no skills: it does not declare %s", label, extension), s.session.Close())
	}
	s.announcesChanges = info.Capabilities.Resources != nil && info.Capabilities.Resources.ListChanged
	return s, nil
}

// Close ends the connection.
func (s *Source) Close() error { return s.session.Close() }

// Root returns the source as a root of a catalog. Its skills have the names "<label>:<name>".
func (s *Source) Root() source.Root { return source.From(s.label, s).In(core.ScopeRemote) }

// withTimeout calls ask and returns an error if the server does not answer within wait.
func withTimeout[T any](ctx context.Context, wait time.Duration, ask func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	answer, err := ask(limited)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("no answer in %s", wait)
	}
	return answer, err
}

// Scan implements catalog.Source. It fetches no file.
func (s *Source) Scan(ctx context.Context, prev *source.Listing) (*source.Listing, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all, next, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.skills = make(map[string]*skill, len(all))
	for _, k := range all {
		s.skills[k.entry.ID] = k
	}
	s.mu.Unlock()
	if prev != nil && slices.Equal(prev.Diagnostics, next.Diagnostics) && slices.EqualFunc(prev.Entries, next.Entries, func(a, b source.Entry) bool {
		return a.ID == b.ID && a.Revision == b.Revision
	}) {
		return prev, nil
	}
	return next, nil
}

// list asks for all skills, page by page.
func (s *Source) list(ctx context.Context) (all []*skill, listing *source.Listing, err error) {
	l := &lister{source: s, seen: make(map[string]bool)}
	if err := l.listPages(ctx); err != nil {
		return nil, nil, err
	}
	if err := l.getOthers(ctx); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(l.skills, func(a, b *skill) int { return cmp.Compare(a.entry.ID, b.entry.ID) })
	for _, k := range l.skills {
		l.listing.Entries = append(l.listing.Entries, k.entry)
	}
	return l.skills, &l.listing, nil
}

// lister is the state of one listing.
type lister struct {
	source  *Source
	skills  []*skill
	seen    map[string]bool // by id
	size    int             // about how many bytes the skills need in memory
	listing source.Listing
}

// add adds a skill, or a finding if it cannot be used.
func (l *lister) add(entry listedSkill) {
	k, why := l.source.newSkill(entry)
	switch {
	case why != "":
		l.note(quoteURI(entry.URI), why)
	case !l.seen[k.entry.ID]:
		l.seen[k.entry.ID] = true
		l.size += k.size
		l.skills = append(l.skills, k)
	}
}

// note adds a finding about a skill, or about the server.
func (l *lister) note(file, why string) {
	l.listing.Diagnostics = append(l.listing.Diagnostics, unusableFinding(file, why))
}

// listPages adds the skills that the server lists, page by page, until a bound is reached.
func (l *lister) listPages(ctx context.Context) error {
	s := l.source
	cursors := make(map[string]bool)
	for cursor, more := "", true; more; {
		page, err := withTimeout(ctx, s.wait, func(ctx context.Context) (*listResult, error) {
			return mcp.CallCustomMethod[*listParams, *listResult](ctx, s.session, "skills/list", &listParams{Cursor: cursor})
		})
		if err != nil {
			return fmt.Errorf("MCP server %q: %w", s.label, err)
		}
		for _, entry := range page.Skills {
			if err := ctx.Err(); err != nil {
				return err
			}
			if l.size > maxListBytes {
				l.note(s.label, fmt.Sprintf("the server lists more than %d bytes", maxListBytes))
				return nil
			}
			if len(l.skills)+len(l.listing.Diagnostics) >= s.config.skills {
				l.note(s.label, fmt.Sprintf("the server lists more than %d skills", s.config.skills))
				return nil
			}
			l.add(entry)
		}
		if cursor = page.NextCursor; len(cursor) > maxCursor {
			l.note(s.label, fmt.Sprintf("the server continues its list by a cursor of more than %d bytes", maxCursor))
			return nil
		}
		more = cursor != "" && !cursors[cursor] && len(cursors) < s.config.skills
		cursors[cursor] = true
	}
	return nil
}

// getOthers adds the skills of [WithURIs] that the server has not listed.
func (l *lister) getOthers(ctx context.Context) error {
	for _, uri := range l.source.uris {
		if l.seen[l.source.id(uri)] {
			continue
		}
		entry, err := l.source.get(ctx, uri)
		switch {
		case err == nil:
			l.add(entry)
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			l.note(quoteURI(uri), err.Error())
		}
	}
	return nil
}

// get asks for one skill.
func (s *Source) get(ctx context.Context, uri string) (listedSkill, error) {
	got, err := withTimeout(ctx, s.wait, func(ctx context.Context) (*getResult, error) {
		return mcp.CallCustomMethod[*getParams, *getResult](ctx, s.session, "skills/get", &getParams{URI: uri})
	})
	switch {
	case err != nil:
		return listedSkill{}, fmt.Errorf("MCP server %q: %w", s.label, err)
	case got.Skill.URI != uri:
		return listedSkill{}, fmt.Errorf("MCP server %q answers with another skill", s.label)
	}
	return got.Skill, nil
}

// codeNotUsed says that a catalog cannot use an entry in the server's list.
const codeNotUsed skillmd.Code = "not-used"

func unusableFinding(file, why string) skillmd.Diagnostic {
	return skillmd.Diagnostic{File: file, Code: codeNotUsed, Severity: skillmd.Warning, Message: fmt.Sprintf("not used: %.1000s", why)}
}

// Open implements catalog.Source. It sends no request to the server. Each file is fetched when the
// caller opens it; a file with another digest than the listed one is an error.
func (s *Source) Open(ctx context.Context, id, revision string) (fs.FS, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	k := s.skills[id]
	s.mu.Unlock()
	if k == nil || k.entry.Revision != revision {
		return nil, source.ErrGone
	}
	return lazyfs.New(k.files(), func(path string) ([]byte, error) { return s.read(ctx, k, path) }), nil
}
