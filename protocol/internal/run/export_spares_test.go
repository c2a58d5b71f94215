package run

// WaitSpares waits until no workspace is being prepared.
func WaitSpares(r *Runner) { r.spares.tasks.Wait() }
