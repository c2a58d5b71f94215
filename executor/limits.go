package executor

import "time"

// unlimited is the value of a field of Limits that sets no limit.
const unlimited = -1

// These limits replace the zero fields of Limits. A command of a skill rarely takes
// longer, or more memory; a host with larger work says so.
const (
	defaultTimeout     = 5 * time.Minute
	defaultMemory      = 2 << 30   // bytes: node and python with a large document take less
	defaultFileBytes   = 256 << 20 // of one file
	defaultDisk        = 1 << 30   // bytes of the whole workspace: four of the largest files
	defaultProcesses   = 256       // and threads: a build on a large machine takes less
	defaultOutput      = 16 << 10  // bytes of each stream that are kept, about 4,000 tokens
	defaultOutputTotal = 64 << 20  // bytes: only a program with a fault writes more
)

// The most that a Command may have beside its arguments and streams. Skills need far
// less, and a sandbox handles each of them before the program starts.
const (
	maxWritable    = 8        // directories
	maxParts       = 8        // directories
	maxPipes       = 4        // files
	maxListen      = 2        // ports
	maxSecrets     = 16       // files
	maxSecretBytes = 64 << 10 // of all of them: they are in memory
	maxSecretName  = 64       // bytes
)

// minPort is the first port that Command.Listen may have: those below are for programs
// with privileges.
const minPort = 1024
