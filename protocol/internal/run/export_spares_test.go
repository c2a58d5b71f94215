package run

// WaitSpares waits until no workspace is being prepared or removed.
func WaitSpares(r *Runner) { r.spares.tasks.Wait() }
