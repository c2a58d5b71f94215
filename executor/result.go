package executor

import "time"

// Reason says why a command ended.
type Reason string

// The reasons. The first that applied counts: a command that is ended for its
// time and then dies of a signal has ReasonTimeout.
const (
	// ReasonExit: the program ended by itself, with any exit code.
	ReasonExit Reason = "exit"
	// ReasonTimeout: Limits.Timeout was over.
	ReasonTimeout Reason = "timeout"
	// ReasonCancelled: the context ended, by its own deadline too, or the
	// process was killed by its owner.
	ReasonCancelled Reason = "cancelled"
	// ReasonOOM: it was ended for its memory, by the kernel or the executor. A
	// program that is refused memory and gives up has ReasonExit.
	ReasonOOM Reason = "oom"
	// ReasonCPU: Limits.CPU was used up.
	ReasonCPU Reason = "cpu"
	// ReasonOutput: it wrote more than Limits.OutputTotal.
	ReasonOutput Reason = "output"
	// ReasonDisk: it met Limits.FileBytes or was over Limits.Disk.
	ReasonDisk Reason = "disk"
	// ReasonPolicy: it did what the sandbox answers with death.
	ReasonPolicy Reason = "policy"
	// ReasonSetup: the program never ran. It was not found or is not executable
	// (exit codes 127 and 126, and Stderr says which), or there is an error too.
	ReasonSetup Reason = "setup"
	// ReasonSignal: a signal that the executor did not send ended it.
	ReasonSignal Reason = "signal"
)

// Result is what became of a command.
type Result struct {
	// ExitCode is the program's exit code, 128 plus the number of the signal
	// that ended it, 127 or 126 for a program that was not found or not
	// executable, and -1 when there is none.
	ExitCode int
	// Reason is never empty.
	Reason Reason
	// Signal is the name of the signal that ended the program, as in "SIGKILL",
	// or empty.
	Signal string
	// Stdout and Stderr are what it wrote, within Limits.Output.
	Stdout, Stderr Stream
	// Duration is the time from the start to the end of the program itself.
	Duration time.Duration
}
