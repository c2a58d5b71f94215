// Package seccomp writes the filter that decides which system calls a sandboxed program may
// make. It does not install the filter: the code that starts the program does.
//
// The filter is a list of what is allowed. A call that no rule names, such as one that a later
// kernel adds, does not exist for the program. It gets ENOSYS, and libraries fall back to an
// older call. Known calls that are refused get EPERM or, for sockets, EAFNOSUPPORT. A call
// through another architecture's entry (32-bit code on a 64-bit kernel) kills the process,
// because its numbers mean other calls. Arguments are compared by the bits that the kernel
// reads.
//
// A filter sees numbers only, never what a pointer leads to or whose process an id is. Paths,
// and signals to processes of the same user, must be bounded by namespaces and Landlock.
package seccomp
