package local

// Untrace makes the executor start commands as on a machine without ptrace.
func (l *Local) Untrace() { l.noPtrace.Store(true) }
