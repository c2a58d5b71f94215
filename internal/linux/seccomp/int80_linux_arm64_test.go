package seccomp

// int80 does nothing: only amd64 has it.
func int80() {}
