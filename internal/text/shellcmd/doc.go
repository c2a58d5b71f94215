// Package shellcmd inspects shell text before it runs. [Policy] decides whether one command line
// may run without a shell, and [Words] lists the commands that a shell would run. A parser reads
// the text as bash. The package refuses text that the parser, bash and POSIX shells may read
// differently.
package shellcmd
