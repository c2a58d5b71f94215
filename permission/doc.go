// Package permission decides by the allowed-tools of loaded skills whether an agent may call a
// tool. [Parse] reads a list, and [Names] maps the names in lists to the agent's tools. A
// [Judge] compares a [Request], which holds what rules can see of a call, with the lists of the
// loaded skills. The package runs nothing and calls no approver.
//
// A pattern such as Bash(git:*) bounds which programs a command starts, and with which first
// words. It does not bound what such a program does: git has options that run other programs,
// and python3 runs anything.
package permission
