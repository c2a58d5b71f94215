// Package permission decides by the allowed-tools of loaded skills whether an
// agent may call a tool. It reads the lists ([Parse]), knows what tools are
// called elsewhere ([Names]), compares a pattern such as Bash(git:*) with the
// command that a call would run, and combines the lists of several skills
// ([Judge]). It runs nothing and asks nobody.
//
// A pattern bounds which programs a command starts, and with which first words.
// It does not bound what such a program does: git has options that run other
// programs, and python3 runs anything.
package permission
