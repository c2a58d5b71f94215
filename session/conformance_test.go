package session_test

import (
	"testing"

	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/session/sessiontest"
)

func openDirectory(t testing.TB, dir string, opts ...session.Option) *session.Directory {
	t.Helper()
	d, err := session.OpenDirectory(dir, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestMemoryConformance(t *testing.T) {
	sessiontest.Run(t, func(*testing.T) session.Store { return session.NewMemory() })
	t.Run("tombstones", func(t *testing.T) {
		sessiontest.RunTombstones(t, func(*testing.T) sessiontest.TombstoneStore { return session.NewMemory() })
	})
	t.Run("faults", func(t *testing.T) {
		shared := session.NewMemory()
		same := func(*testing.T) session.Store { return shared }
		sessiontest.RunFaults(t, same, same)
	})
}

func TestDirectoryConformance(t *testing.T) {
	for name, opts := range map[string][]session.Option{
		"default":          nil,
		"no sync, no link": {session.WithSync(false), session.WithoutLinks},
	} {
		t.Run(name, func(t *testing.T) {
			sessiontest.Run(t, func(t *testing.T) session.Store { return openDirectory(t, t.TempDir(), opts...) })
			sessiontest.RunDurable(t, func(t *testing.T, dir string) session.Store { return openDirectory(t, dir, opts...) })
			t.Run("tombstones", func(t *testing.T) {
				sessiontest.RunTombstones(t, func(t *testing.T) sessiontest.TombstoneStore { return openDirectory(t, t.TempDir(), opts...) })
			})
		})
	}
}
