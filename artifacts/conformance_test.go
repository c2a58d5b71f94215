package artifacts_test

import (
	"testing"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/artifacts/artifactstest"
)

func openDirectory(t testing.TB, dir string, opts ...artifacts.Option) *artifacts.Directory {
	t.Helper()
	d, err := artifacts.OpenDirectory(dir, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// small is the quota that artifactstest.RunQuota asks for.
var small = artifacts.Quota{Bytes: 1000, Versions: 10}

func TestMemoryConformance(t *testing.T) {
	artifactstest.RunQuota(t, func(*testing.T) artifacts.Store { return &artifacts.Memory{Quota: small} })
	artifactstest.Run(t, func(*testing.T) artifacts.Store { return artifacts.NewMemory() })
}

func TestDirectoryConformance(t *testing.T) {
	artifactstest.RunQuota(t, func(t *testing.T) artifacts.Store {
		return openDirectory(t, t.TempDir(), artifacts.WithSync(false), artifacts.WithQuota(small))
	})
	for name, opts := range map[string][]artifacts.Option{
		"default": nil,
		"no sync": {artifacts.WithSync(false)},
	} {
		t.Run(name, func(t *testing.T) {
			artifactstest.Run(t, func(t *testing.T) artifacts.Store { return openDirectory(t, t.TempDir(), opts...) })
			artifactstest.RunDurable(t, func(t *testing.T, dir string) artifacts.Store { return openDirectory(t, dir, opts...) })
		})
	}
}
