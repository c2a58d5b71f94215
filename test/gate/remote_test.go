package gate_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/permission"
)

// remoteSource is a source of skills that a server serves.
type remoteSource struct{ catalog.Source }

func (a remoteSource) Scan(ctx context.Context, prev *source.Listing) (*source.Listing, error) {
	listing, err := a.Source.Scan(ctx, nil)
	if err != nil {
		return nil, err
	}
	next := &source.Listing{}
	for _, e := range listing.Entries {
		next.Entries = append(next.Entries, source.Entry{
			ID: "mcp:acme:" + e.ID, Revision: e.Revision, Head: e.Head, Files: e.Files, Unreviewed: true, Origin: `the MCP server "acme"`,
		})
	}
	if prev != nil {
		return prev, nil
	}
	return next, nil
}

func (a remoteSource) Open(ctx context.Context, id, revision string) (fs.FS, error) {
	return a.Source.Open(ctx, strings.TrimPrefix(id, "mcp:acme:"), revision)
}

// remoteChat has a skill of a server, and one of this machine whose list allows runs.
func remoteChat(t *testing.T, opts ...satchel.Option) *chattest.Chat {
	t.Helper()
	far, err := source.Open(t.Context(), source.FS("far", fstest.MapFS{
		"x/SKILL.md": {Data: []byte("---\nname: x\ndescription: Far.\nallowed-tools: Bash\n---\nBODY\n")},
	}), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	near := fstest.MapFS{
		"near/SKILL.md": {Data: []byte("---\nname: near\ndescription: Near.\nallowed-tools: Bash Read\n---\nBODY\n")},
	}
	opts = append([]satchel.Option{satchel.WithSkillRoots([]source.Root{source.From("acme", remoteSource{far}).In(core.ScopeRemote)})}, opts...)
	return chattest.NewChat(t, chattest.Open(t, near, opts...)).Say(core.User, "hi")
}

// TestRemoteTextAsks has a command run before and after the text of a server comes
// into view, also where a list of this machine allows it, or no policy restricts
// anything.
func TestRemoteTextAsks(t *testing.T) {
	const command = `skill_run {"skill":"near","command":"ls"}`
	for _, policy := range []permission.Policy{permission.Restrict, permission.Preapprove, permission.Off} {
		c := remoteChat(t, satchel.WithPermissions(satchel.Permissions{Policy: policy}))
		c.Gate(`skill_load {"skill":"near"}`)
		if d := c.Decide(c.Respond(command)[0]); d.Denied {
			t.Errorf("%s: before: %s", policy, d.Reason)
		}
		c.Gate(`skill_load {"skill":"acme:x"}`)
		for _, call := range []string{command, `bash {"command":"ls"}`, `skill_write_stdin {"session_id":"1","chars":"ls"}`} {
			if d := c.Decide(c.Respond(call)[0]); !d.Denied || !strings.Contains(d.Reason, `skill "acme:x" comes from the MCP server "acme"`) {
				t.Errorf("%s: %s: %+v", policy, call, d)
			}
		}
		if d := c.Decide(c.Respond(`read_file {"file_path":"a"}`)[0]); d.Denied {
			t.Errorf("%s: a read: %s", policy, d.Reason)
		}
		for answer, denied := range map[core.Answer]bool{core.AnswerAllow: false, core.AnswerDeny: true} {
			p := &person{answer: answer}
			c := remoteChat(t, satchel.WithPermissions(satchel.Permissions{Policy: policy}), satchel.WithApprover(p.approve))
			c.Gate(`skill_load {"skill":"near"}`, `skill_load {"skill":"acme:x"}`)
			p.times()
			d := c.Decide(c.Respond(command)[0])
			if d.Denied != denied || len(p.asked) != 1 || !strings.Contains(p.asked[0].Reason, "the MCP server") || p.asked[0].Bound == "" {
				t.Errorf("%s, %s: %+v, asked %+v", policy, answer, d, p.asked)
			}
		}
	}
}
