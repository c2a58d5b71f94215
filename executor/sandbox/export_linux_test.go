//go:build amd64 || arm64

package sandbox

import "github.com/satchel-go/satchel/executor/internal/process"

// WithoutNamespaces makes a Sandbox as on a machine that forbids them.
func WithoutNamespaces() Option {
	return func(s *config) error {
		s.withoutNamespaces = true
		return nil
	}
}

// OwnThread calls f on a thread that ends with it.
var OwnThread = ownThread

// ErrOption is wrapped when an option has no meaning.
var ErrOption = process.ErrOption
