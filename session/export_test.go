package session

// MaxSessions is the default bound of a Memory.
const MaxSessions = maxSessions

// WithoutLinks makes a Directory behave as on a file system without hard links.
func WithoutLinks(c *config) error { c.noLink = true; return nil }
