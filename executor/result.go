package executor

import (
	"fmt"
	"strings"
	"time"
)

// Reason says why a command ended.
type Reason string

// These are the reasons. A result has the first that applied: ReasonTimeout, for example, if the
// executor ends a command at its timeout by a signal.
const (
	// ReasonExit says that the program ended by itself, with any exit code.
	ReasonExit Reason = "exit"
	// ReasonTimeout says that Limits.Timeout was over.
	ReasonTimeout Reason = "timeout"
	// ReasonCancelled says that the context ended, by its own deadline too, or that the owner
	// killed the process.
	ReasonCancelled Reason = "cancelled"
	// ReasonOOM says that the kernel or the executor ended the program for its memory. A
	// program that exits because it gets no more memory has ReasonExit.
	ReasonOOM Reason = "oom"
	// ReasonCPU says that Limits.CPU was used up.
	ReasonCPU Reason = "cpu"
	// ReasonOutput says that the program wrote more than Limits.OutputTotal.
	ReasonOutput Reason = "output"
	// ReasonDisk says that the program met Limits.FileBytes or was over Limits.Disk.
	ReasonDisk Reason = "disk"
	// ReasonPolicy says that the program made a system call for which the sandbox kills it.
	ReasonPolicy Reason = "policy"
	// ReasonSetup says that the program never ran. It was not found or is not executable (exit
	// codes 127 and 126, and Stderr says which), or there is an error too.
	ReasonSetup Reason = "setup"
	// ReasonSignal says that a signal ended the program, and the executor did not send it.
	ReasonSignal Reason = "signal"
	// ReasonLost says that the machine or container that ran the program was lost. The program
	// may have finished. The error wraps ErrLost.
	ReasonLost Reason = "lost"
)

// Result says how a command ended.
type Result struct {
	// ExitCode is the program's exit code. It is 127 for a program that was not found, 126 for
	// one that is not executable, and -1 when there is none. If a signal ended the program, it
	// is 128 plus the signal's number.
	ExitCode int
	// Reason is never empty.
	Reason Reason
	// Signal is the name of the signal that ended the program, as in "SIGKILL",
	// or empty.
	Signal string
	// Stdout and Stderr are what the program wrote, within Limits.Output.
	Stdout, Stderr Stream
	// Duration is the time from the start to the end of the program itself.
	Duration time.Duration
}

// Stream is the kept part of an output: all of it in Head, or its beginning in Head and its end
// in Tail.
type Stream struct {
	// Head and Tail are the bytes as they were written. When something was left
	// out, Head ends and Tail begins at the border of a UTF-8 character.
	Head, Tail []byte
	// Dropped is the number of bytes left out between the two.
	Dropped int64
}

// String returns the text for a reader: head and tail, with a line between them
// that says how much was left out. Bytes that are not UTF-8 become U+FFFD.
func (s Stream) String() string {
	if s.Dropped == 0 {
		return strings.ToValidUTF8(string(s.Head)+string(s.Tail), "\uFFFD")
	}
	head := string(s.Head)
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	text := fmt.Sprintf("%s[... %d bytes left out ...]\n%s", head, s.Dropped, s.Tail)
	return strings.ToValidUTF8(text, "\uFFFD")
}
