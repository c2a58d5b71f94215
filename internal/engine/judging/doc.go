// Package judging decides by the allowed-tools of loaded skills whether an agent may call a
// tool. [Parse] reads a list, and [Names] knows what tools are called in lists. A [Judge]
// compares a request, which is what rules can see of a call, with the lists of the loaded
// skills. The package runs nothing and asks no one.
//
// A pattern such as Bash(git:*) bounds which programs a command starts, and with which
// first words. It does not bound what such a program does: git has options that run other
// programs, and python3 runs anything.
package judging
