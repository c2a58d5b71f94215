package skillset_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// remoteSource is a source of another server: skills by their paths, and what was opened.
type remoteSource struct {
	skills map[string]string
	opened int
	dead   bool
}

func (f *remoteSource) Scan(context.Context, *source.Listing) (*source.Listing, error) {
	if f.dead {
		return nil, errors.New("it is dead")
	}
	l := &source.Listing{}
	for path, text := range f.skills {
		sum := sha256.Sum256([]byte(text))
		l.Entries = append(l.Entries, source.Entry{
			ID: "mcp:acme:skill://" + path + "/SKILL.md", Revision: hex.EncodeToString(sum[:]), Head: []byte(text), Origin: `the MCP server "acme"`,
			Files: []source.File{{Path: "SKILL.md", Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}, {Path: "skill.toml", SHA256: hex.EncodeToString(sum[:])}},
		})
	}
	return l, nil
}

func (f *remoteSource) Open(_ context.Context, id, _ string) (fs.FS, error) {
	if f.opened++; f.dead {
		return nil, errors.New("it is dead")
	}
	for path, text := range f.skills {
		if id == "mcp:acme:skill://"+path+"/SKILL.md" {
			return fstest.MapFS{"SKILL.md": {Data: []byte(text)}}, nil
		}
	}
	return nil, source.ErrGone
}

func head(name string) string {
	return "---\nname: " + name + "\ndescription: Far.\nmetadata:\n  version: 9.0.0\n  secrets: KEY\n---\n"
}

// TestRemote lists skills of another server. Skills of this server and created ones hide those with
// the same id. A remote skill is opened when it is read, and cannot run.
func TestRemote(t *testing.T) {
	other := &remoteSource{skills: map[string]string{"team/pdf": head("pdf"), "near": head("near"), "mine": head("mine"), "Bad_": head("bad")}}
	base := t.TempDir()
	before, err := skillset.Open(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	own := draft("1.0.0", "x = 1\n")
	own.Manifest["name"] = "acme.mine"
	if _, err := before.Create(t.Context(), "bob", own); err != nil {
		t.Fatal(err)
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := skillset.Open(t.Context(), base, skillset.Remote("acme", other), sourceOf(t, fstest.MapFS{
		"near/SKILL.md": {Data: []byte(plain)}, "near/skill.toml": {Data: []byte(manifest("acme.near", "1.0.0"))},
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	names := func(tenant string) (all []string) {
		list, _ := s.List(tenant, "")
		for _, k := range list {
			all = append(all, fmt.Sprint(k.ID(), " ", k.Version, " ", k.Kind, " ", k.Origin != ""))
		}
		return all
	}
	want := []string{"acme.mine 9.0.0 instruction true", "acme.near 1.0.0 instruction false", "acme.team.pdf 9.0.0 instruction true"}
	if got := names("ann"); !slices.Equal(got, want) || other.opened != 0 {
		t.Errorf("%q, opened %d times", got, other.opened)
	}
	if got := names("bob"); got[0] != "acme.mine 1.0.0 action false" || len(got) != 3 {
		t.Errorf("who has made one: %q", got)
	}
	if found := s.Diagnostics(); len(found) != 2 {
		t.Errorf("diagnostics %v", found)
	}
	k, err := s.Find("ann", "acme.team.pdf", "")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := k.ReadFile(t.Context(), "SKILL.md"); string(text) != head("pdf") || err != nil || len(k.Secrets) != 0 {
		t.Errorf("%q, %v, secrets %q", text, err, k.Secrets)
	}
	if _, err := k.ReadFile(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("not listed: %v", err)
	}
	other.dead = true
	if _, err := k.ReadFile(t.Context(), "SKILL.md"); !errors.Is(err, skillset.ErrRemote) {
		t.Errorf("dead: %v", err)
	}
	if err := s.Refresh(t.Context()); err != nil || !slices.Equal(names("ann"), want) {
		t.Errorf("of a dead server the skills stay: %q, %v", names("ann"), err)
	}
}
