package mcpsource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
)

// TestNotify changes skills. A watcher of the catalog sees the change, after a report of the server
// or a Refresh of the host.
func TestNotify(t *testing.T) {
	for name, tells := range map[string]bool{"the server tells": true, "the host asks": false} {
		t.Run(name, func(t *testing.T) {
			w := newSkillServer()
			w.announces = tells
			w.put("pdf", "SKILL.md", text("pdf", "First."))
			s := w.open(t)
			c, err := catalog.Open(t.Context(), []source.Root{s.Root()}, catalog.WithReading(source.Reading{ScanTimeout: patience}))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if changed, err := s.Refresh(t.Context()); changed || err != nil {
				t.Errorf("nothing has changed: %v, %v", changed, err)
			}
			w.put("pdf", "SKILL.md", text("pdf", "Other."))
			if changed, err := s.Refresh(t.Context()); !changed || err != nil {
				t.Errorf("it has changed: %v, %v", changed, err)
			}
			changes := make(chan struct{}, 1)
			stop := c.Watch(t.Context(), catalog.WatchOptions{
				Quiet: time.Millisecond, Latest: 10 * time.Millisecond, Poll: time.Hour,
				Changed: func(context.Context, *catalog.Snapshot) {
					select {
					case changes <- struct{}{}:
					default:
					}
				},
			})
			late := time.After(patience)
			for round := range 3 { // several rounds, because a watcher that starts finds the first change by itself
				want := fmt.Sprint("Version ", round)
				w.put("pdf", "SKILL.md", text("pdf", want))
				if tells {
					w.mcp.AddResource(&mcp.Resource{URI: "skill://team/pdf/SKILL.md", Name: "pdf"}, nil)
				} else if _, err := s.Refresh(t.Context()); err != nil {
					t.Error(err)
				}
				for {
					if k, _ := c.Snapshot().Skill("acme:pdf"); k.Description == want {
						break
					}
					select {
					case <-changes:
					case <-late:
						t.Fatalf("%s is never seen", want)
					}
				}
			}
			if err := stop(); err != nil || len(s.watchers) != 0 {
				t.Errorf("%d still watch, %v", len(s.watchers), err)
			}
		})
	}
}

// TestEveryByte changes each byte of a skill, one after the other. Reading must fail each time.
func TestEveryByte(t *testing.T) {
	w := newSkillServer()
	w.put("pdf", "SKILL.md", text("pdf", "Far."))
	w.put("pdf", "a.md", "About.\n")
	s := w.open(t)
	listing, err := s.Scan(t.Context(), nil)
	if err != nil || len(listing.Entries) != 1 {
		t.Fatalf("Scan: got %+v, error %v, want 1 entry", listing, err)
	}
	e := listing.Entries[0]
	for _, f := range e.Files {
		for at := range f.Size + 1 {
			w.changeContent = func(_, text string) string {
				if at == f.Size {
					return text + "\n"
				}
				return text[:at] + string(text[at]^1) + text[at+1:]
			}
			files, err := s.Open(t.Context(), e.ID, e.Revision)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := fs.ReadFile(files, f.Path); !errors.Is(err, source.ErrDigest) {
				t.Fatalf("%s with another byte %d: %q, %v", f.Path, at, got, err)
			}
		}
	}
}
