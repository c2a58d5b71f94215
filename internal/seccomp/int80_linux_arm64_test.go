package seccomp

// int80 is amd64's.
func int80() {}
