// Package shellcmd inspects shell text before anything runs it: Policy decides
// whether one command line may run without a shell, and Words lists what a shell
// would run. A real parser reads the text as bash. Whatever the parser, bash or a
// POSIX shell could read differently is refused.
package shellcmd
