package protocol

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// wellKnownPath precedes the routes of the well-known index.
const wellKnownPath = "/.well-known/agent-skills/"

// wellKnownSchema names the form of the index.
const wellKnownSchema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

// archiveSuffix ends the names of archives of skills.
const archiveSuffix = ".tar.gz"

// wellKnownAddresses are the routes of WithWellKnown.
var wellKnownAddresses = []address{
	{"GET " + wellKnownPath + "index.json", "the skills for discovery, without a token, with --well-known", ""},
	{"GET " + wellKnownPath + "<name>/SKILL.md", "a skill of one file, likewise", ""},
	{"GET " + wellKnownPath + "<name>" + archiveSuffix, "a skill of several files, likewise", ""},
}

// WithWellKnown publishes the skills of the server's sources without a token, as Agent Skills
// Discovery 0.2.0 describes it: GET /.well-known/agent-skills/index.json lists them, and
// source.WellKnown reads that. Skills that are hidden, come from other servers or were created by a
// caller are left out. So are those whose name is not valid or is that of an earlier skill.
func WithWellKnown() Option {
	return func(c *config) error {
		c.published = &published{}
		c.addresses = append(c.addresses, wellKnownAddresses...)
		return nil
	}
}

// published serves the skills of a server by its well-known index.
type published struct {
	server *Server

	mu     sync.Mutex
	digest string // of the skills in the index
	index  []byte
	skills map[string]*publishedSkill // by name
	// sums has the SHA-256 of archives by the digest of the skill, and archives small ones.
	sums     map[string]string
	archives *lru.Cache[string, []byte]
}

// publishedSkill is one skill of the index.
type publishedSkill struct {
	*skillset.Skill
	sum string // SHA-256 of what is served, in hexadecimal
}

// entry is an entry of the index; the names of its fields are those of the specification.
type entry struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Digest      string `json:"digest"`
}

// handle adds the routes to mux.
func (p *published) handle(mux *http.ServeMux) {
	anyone := func(*http.Request) (Principal, error) { return Principal{}, nil }
	route := func(path string, serve func(http.ResponseWriter, *http.Request)) {
		mux.Handle(wellKnownPath+path, p.server.guardFor(anyone, handlers{
			http.MethodGet: func(w http.ResponseWriter, r *http.Request, _ Principal, _ *admission) { serve(w, r) },
		}))
	}
	route("index.json", p.serveIndex)
	route("{name}/SKILL.md", p.serveFile)
	route("{archive}", p.serveArchive)
}

func (p *published) serveIndex(w http.ResponseWriter, r *http.Request) {
	index, err := p.current(r.Context())
	if err != nil {
		p.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	serveBytes(w, r, index)
}

// serveBytes answers with data, or that it has not changed.
func serveBytes(w http.ResponseWriter, r *http.Request, data []byte) {
	sum := sha256.Sum256(data)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// fail answers that a skill cannot be served now.
func (p *published) fail(w http.ResponseWriter, err error) {
	p.server.logger.Warn("a published skill cannot be served", "error", err)
	http.Error(w, "the skill cannot be read now", http.StatusServiceUnavailable)
}

func (p *published) serveFile(w http.ResponseWriter, r *http.Request) {
	k, err := p.find(r.Context(), r.PathValue("name"))
	if err != nil {
		p.fail(w, err)
		return
	}
	if k == nil || len(k.Files) != 1 {
		http.NotFound(w, r)
		return
	}
	text, err := k.ReadFile(r.Context(), k.Files[0].Path)
	if err != nil {
		p.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
	serveBytes(w, r, text)
}

func (p *published) serveArchive(w http.ResponseWriter, r *http.Request) {
	name, isArchive := strings.CutSuffix(r.PathValue("archive"), archiveSuffix)
	k, err := p.find(r.Context(), name)
	if err != nil {
		p.fail(w, err)
		return
	}
	if !isArchive || k == nil || len(k.Files) == 1 {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/gzip")
	p.mu.Lock()
	data, kept := p.archives.Get(k.Digest)
	p.mu.Unlock()
	if kept {
		serveBytes(w, r, data)
		return
	}
	etag := `"` + k.sum + `"`
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if r.Method == http.MethodHead {
		return
	}
	if err := k.Pack(r.Context(), w); err != nil {
		p.server.logger.Warn("a published skill cannot be served", "error", err)
		panic(http.ErrAbortHandler) // the client must not take a part for the whole
	}
}

// find returns a skill of the index, or nil if the index has none of that name.
func (p *published) find(ctx context.Context, name string) (*publishedSkill, error) {
	if _, err := p.current(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.skills[name], nil
}

// current returns the index of the present skills.
func (p *published) current(ctx context.Context) ([]byte, error) {
	if err := p.server.skills.RefreshIfOld(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all, digest := p.server.skills.List("", "")
	if p.index != nil && p.digest == digest {
		return p.index, nil
	}
	if p.archives == nil {
		p.archives = lru.New[string, []byte](maxKeptArchives, nil)
	}
	entries, skills, sums := []entry{}, make(map[string]*publishedSkill), make(map[string]string)
	for _, k := range all {
		if k.Origin != "" || len(skilltext.NameProblems(k.Name)) > 0 || skills[k.Name] != nil {
			continue
		}
		k, err := p.server.skills.Find("", k.ID(), "")
		if err != nil || k.Name == "" || skills[k.Name] != nil {
			continue
		}
		e, one, err := p.entryOf(ctx, k)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			p.server.logger.Warn("a skill is not published", "skill", k.ID(), "error", err)
			continue
		}
		sums[k.Digest] = one.sum
		skills[k.Name], entries = one, append(entries, e)
	}
	index, err := jsonrpc.Marshal(map[string]any{"$schema": wellKnownSchema, "skills": entries})
	if err != nil {
		return nil, err
	}
	p.index, p.digest, p.skills, p.sums = index, digest, skills, sums
	return index, nil
}

// entryOf returns the entry of a skill. It expects p.mu to be held.
func (p *published) entryOf(ctx context.Context, k *skillset.Skill) (entry, *publishedSkill, error) {
	e := entry{Name: k.Name, Description: k.Description}
	one := &publishedSkill{Skill: k}
	if len(k.Files) == 1 {
		one.sum = k.Files[0].SHA256
		e.Type, e.URL = "skill-md", wellKnownPath+k.Name+"/SKILL.md"
	} else {
		var err error
		if one.sum, err = p.sumOf(ctx, k); err != nil {
			return e, nil, err
		}
		e.Type, e.URL = "archive", wellKnownPath+k.Name+archiveSuffix
	}
	e.Digest = "sha256:" + one.sum
	return e, one, nil
}

// sumOf returns the SHA-256 of the archive of a skill, and keeps a small archive. It expects p.mu
// to be held.
func (p *published) sumOf(ctx context.Context, k *skillset.Skill) (string, error) {
	if sum := p.sums[k.Digest]; sum != "" {
		return sum, nil
	}
	size := int64(0)
	for _, f := range k.Files {
		size += f.Size
	}
	if size > maxPublished {
		return "", fmt.Errorf("its files have more than %d bytes", maxPublished)
	}
	var data bytes.Buffer
	sum := sha256.New()
	to := io.Writer(sum)
	if size <= maxKeptArchive {
		to = io.MultiWriter(sum, &data)
	}
	if err := k.Pack(ctx, to); err != nil {
		return "", err
	}
	if size <= maxKeptArchive {
		p.archives.Put(k.Digest, data.Bytes(), data.Len())
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
