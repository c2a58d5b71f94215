package session

// WithoutLinks makes a Directory behave as on a file system without hard links.
func WithoutLinks(d *Directory) error { d.noLink = true; return nil }
