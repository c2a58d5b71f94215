//go:build amd64 || arm64

package sandbox

// WithoutNamespaces makes a Sandbox as on a machine that forbids them.
func WithoutNamespaces() Option {
	return func(s *settings) error {
		s.withoutNamespaces = true
		return nil
	}
}

// OwnThread calls f on a thread that ends with it.
var OwnThread = ownThread
