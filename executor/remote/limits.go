package remote

import "time"

// Sizes of the protocol.
const (
	// maxFrame bounds the bytes that follow the length of a frame. It is the size of a command
	// with long arguments, as JSON.
	maxFrame = 1 << 20
	// maxMessage bounds the JSON of all frames but a command's: names, numbers and short texts.
	maxMessage = 64 << 10
	// maxData is the size in bytes of a frame of data: what a pipe of Linux moves at once, halved,
	// so that other streams wait for little.
	maxData = 32 << 10
	// readStep is how much memory a frame gets before its bytes arrive. A length alone costs
	// nothing.
	readStep = 64 << 10
	// window is how many bytes of a stream may be on the way. It is four times what a pipe holds,
	// so a program seldom waits for an answer.
	window = 256 << 10
	// maxSignal bounds the name of a signal, in bytes: the longest has nine.
	maxSignal = 16
	// maxText bounds the text of an error or a note, in bytes. Longer ones are cut.
	maxText = 4 << 10
	// maxEntries bounds the arguments of a command, and again its environment. Their headers
	// take 16 bytes each.
	maxEntries = 1 << 16
	// maxVerify bounds the directories of one job that are compared.
	maxVerify = 64
	// maxNote bounds a sentence of a runner's capabilities, in bytes. Hosts show it to people and
	// models.
	maxNote = 500
	// maxListed bounds the directories and sentences that a runner's capabilities list.
	maxListed = 64
	// setupText is what a result may have beside Limits.Output, in bytes: the text of a setup
	// error is not the program's output.
	setupText = 64 << 10
)

// Numbers of things at one time.
const (
	// maxRunners bounds the runners of an Executor. Each is a process or a container.
	maxRunners = 64
	// maxCommands bounds the commands of one runner, and again its searches for programs. A
	// command costs some goroutines and up to three windows.
	maxCommands = 256
	// maxFiles bounds the pipes, and again the ports, that a message may ask for.
	// executor.Command.Check allows no more of them.
	maxFiles = 4
	// maxConns bounds the connections to one port of a command. Each has two windows. Further
	// ones wait in the sandbox until one ends.
	maxConns = 64
)

// Times.
const (
	// beatEvery is the time between two signs of life, from either side.
	beatEvery = 5 * time.Second
	// silence is how long the other side may be silent, or take nothing: three signs of life.
	silence = 3 * beatEvery
	// defaultIdle is how long a runner without commands is kept. The next command of a
	// conversation mostly comes sooner, or much later.
	defaultIdle = 30 * time.Second
	// maxIdle bounds WithIdle. A runner that is kept longer is no longer idle but forgotten.
	maxIdle = time.Hour
	// busyWait is how long a command waits for one of maxRunners runners.
	busyWait = time.Minute
	// openWait bounds the start of a runner until its hello. A container takes a second, and an
	// image from a slow disk some more.
	openWait = 2 * time.Minute
	// killWait is how long a command that was killed may take to end: the longest grace of an
	// executor, and time for a busy machine. A runner that takes longer counts as lost.
	killWait = 30 * time.Second
	// lateWait is how much later than at its timeout a command may end. It is the time that a
	// sandbox may take to set up, and killWait.
	lateWait = 90 * time.Second
	// serveWait is how long a function of Command.Listen may take to return when its listener is
	// closed.
	serveWait = 2 * time.Second
	// pipeWait is how long output on a pipe of a command may still move after the command's end.
	pipeWait = 5 * time.Second
	// releaseWait is how long Release waits for the results of the commands that it ends.
	releaseWait = 5 * time.Second
)
