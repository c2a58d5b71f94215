// Package seccomp returns the filter that decides which system calls a sandboxed program may make.
// It does not install the filter: the code that starts the program does.
//
// The filter is an allowlist. A call that no rule names, such as one of a later kernel, fails with
// ENOSYS, and libraries fall back to an older call. Known calls that are refused fail with EPERM
// or, for sockets, EAFNOSUPPORT. A call by another architecture's entry (32-bit code on a 64-bit
// kernel) kills the process, because its numbers mean other calls. Rules compare only the bits of
// an argument that the kernel reads.
//
// A filter sees numbers only, never what a pointer leads to or whose process an id is. Paths,
// and signals to processes of the same user, must be bounded by namespaces and Landlock.
package seccomp
