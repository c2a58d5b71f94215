// Package seccomp writes the filter that decides which system calls a sandboxed
// program may make. It only writes it: whoever starts the program installs it.
//
// The filter is a list of what is allowed. A call that no rule names, such as
// one that a later kernel invents, does not exist for the program: it gets
// ENOSYS, and libraries fall back to an older call. What exists and is refused
// gets EPERM or, for sockets, EAFNOSUPPORT. A call through another architecture's
// entry (32-bit code on a 64-bit kernel) kills the process, because its numbers
// mean other calls. Arguments are compared by the bits that the kernel reads.
//
// A filter sees numbers, never what a pointer leads to or a process id stands
// for. Paths, and signals to processes of the same user, are for namespaces and
// Landlock to bound.
package seccomp
