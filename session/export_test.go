package session

// WithoutLinks makes a Directory behave as on a file system without hard links.
func WithoutLinks(c *config) error { c.noLink = true; return nil }
