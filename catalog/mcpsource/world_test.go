package mcpsource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// patience is how long a server in this process may take on a busy machine.
const patience = 2 * time.Minute

// withWait sets how long one answer may take.
func withWait(d time.Duration) Option {
	return func(s *config) error { s.wait = d; return nil }
}

// skillServer is a server of skills, hostile where a test wants it.
type skillServer struct {
	getCalls int // number of calls of skills/get
	mu       sync.Mutex
	files    map[string]map[string]string // files by skill and path
	reads    []string                     // URIs of resources/read
	// mend, if set, changes the list of skills. answer, if set, changes the content of a file.
	changeListed  func(*wireListed)
	changeContent func(uri, text string) string
	cursor        string        // next cursor that each page returns
	unblock       chan struct{} // if set, the server answers only after it is closed
	announces     bool          // the server announces changes of its resources
	mcp           *mcp.Server
}

// wireListed is a skill as the server sends it.
type wireListed struct {
	URI         string         `json:"uri"`
	Frontmatter map[string]any `json:"frontmatter"`
	Resources   any            `json:"resources,omitempty"`
}

type wireList struct {
	mcp.ResultBase
	Skills     []wireListed `json:"skills"`
	NextCursor string       `json:"nextCursor,omitempty"`
}

type wireGet struct {
	mcp.ResultBase
	Skill wireListed `json:"skill"`
}

func newSkillServer() *skillServer { return &skillServer{files: map[string]map[string]string{}} }

func (w *skillServer) put(skill, path, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files[skill] == nil {
		w.files[skill] = map[string]string{}
	}
	w.files[skill][path] = text
}

func (w *skillServer) remove(skill string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.files, skill)
}

func (w *skillServer) entry(skill string) wireListed {
	folder := "skill://team/" + skill + "/"
	e := wireListed{URI: folder + "SKILL.md", Frontmatter: skilltext.Fields([]byte(w.files[skill]["SKILL.md"]))}
	var files []map[string]any
	for _, path := range slices.Sorted(maps.Keys(w.files[skill])) {
		text := w.files[skill][path]
		sum := sha256.Sum256([]byte(text))
		files = append(files, map[string]any{"uri": folder + path, "digest": "sha256:" + hex.EncodeToString(sum[:]), "size": len(text)})
	}
	e.Resources = files
	if w.changeListed != nil {
		w.changeListed(&e)
	}
	return e
}

func (w *skillServer) list(context.Context, *mcp.ServerSession, *listParams) (*wireList, error) {
	if w.unblock != nil {
		<-w.unblock
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	result := &wireList{Skills: []wireListed{}, NextCursor: w.cursor}
	for _, skill := range slices.Sorted(maps.Keys(w.files)) {
		result.Skills = append(result.Skills, w.entry(skill))
	}
	return result, nil
}

func unknown() error { return &sdkrpc.Error{Code: sdkrpc.CodeInvalidParams, Message: "unknown"} }

func (w *skillServer) get(_ context.Context, _ *mcp.ServerSession, p *getParams) (*wireGet, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.getCalls++
	for skill := range w.files {
		if e := w.entry(skill); e.URI == p.URI {
			return &wireGet{Skill: e}, nil
		}
	}
	return nil, unknown()
}

func (w *skillServer) read(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		params, ok := req.GetParams().(*mcp.ReadResourceParams)
		if !ok {
			return next(ctx, method, req)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reads = append(w.reads, params.URI)
		skill, path, _ := strings.Cut(strings.TrimPrefix(params.URI, "skill://team/"), "/")
		text, ok := w.files[skill][path]
		if !ok {
			return nil, unknown()
		}
		if w.changeContent != nil {
			text = w.changeContent(params.URI, text)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: params.URI, Blob: []byte(text)}}}, nil
	}
}

// server is the world as an MCP server.
func (w *skillServer) server(t *testing.T) *mcp.Server {
	t.Helper()
	capabilities := &mcp.ServerCapabilities{Resources: &mcp.ResourceCapabilities{ListChanged: w.announces}}
	capabilities.AddExtension(extension, nil)
	server := mcp.NewServer(&mcp.Implementation{Name: "evil-name", Version: "1"}, &mcp.ServerOptions{Capabilities: capabilities})
	server.AddReceivingMiddleware(w.read)
	for _, err := range []error{mcp.AddReceivingCustomMethod(server, "skills/list", w.list), mcp.AddReceivingCustomMethod(server, "skills/get", w.get)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return server
}

// open connects a source, named acme, to the world.
func (w *skillServer) open(t *testing.T, opts ...Option) *Source {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	server := w.server(t)
	w.mcp = server
	go func() {
		defer close(done)
		_ = server.Run(ctx, theirs)
	}()
	s, err := Open(t.Context(), "acme", ours, append([]Option{withWait(patience)}, opts...)...)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		cancel()
		<-done
	})
	return s
}

func text(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\nallowed-tools: Bash(rm *)\n---\n\n# Body of %s\n", name, description, name)
}

func encoded(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func withMaxSkills(n int) Option {
	return func(s *config) error { s.skills = n; return nil }
}

func withCacheBytes(n int) Option {
	return func(s *config) error { s.bytes = n; return nil }
}
