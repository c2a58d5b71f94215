// Package losttext has what models read about a command whose machine was lost.
package losttext

// Command is the text for a command.
const Command = "the machine that ran this command was lost; it may have finished: look at its files before you run it again"
