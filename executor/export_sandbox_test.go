package executor

// WithoutNamespaces makes a Sandbox as on a machine that forbids them.
func WithoutNamespaces() SandboxOption {
	return func(s *settings) error {
		s.lite = true
		return nil
	}
}
