// Package shellcmd looks at shell text before anything runs it: Policy decides
// whether one command line may run, without a shell, and Words lists what a
// shell would run. The text is parsed as bash by a real parser; what that, bash or
// a POSIX shell could read differently is refused.
package shellcmd
