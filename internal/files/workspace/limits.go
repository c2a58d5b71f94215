package workspace

import "time"

// Defaults of the options of [Open]. A skill's files are some megabytes; the sizes leave room
// for documents and data of users.
const (
	defaultMaxBytes     = 1 << 30   // of a workspace: as executor.Limits.Disk
	defaultMaxFileBytes = 256 << 20 // as executor.Limits.FileBytes
	defaultMaxTotal     = 16 << 30  // bytes of all workspaces
	defaultIdle         = time.Hour

	// A workspace has a reserve beyond its maximum: a spareDivisor-th of it, but at most
	// maxSpare bytes. That is enough to start a command that removes files.
	spareDivisor = 16
	maxSpare     = 1 << 20
)

// Bounds of the files that are copied into a workspace.
const (
	maxAttachments = 1000 // files of a conversation
	maxSameNames   = 1000 // names that are tried for a file before it is refused
	maxNameBytes   = 200  // leaves room for a number; file systems allow 255
	maxExtBytes    = 20   // a longer extension is cut like the rest of a name
	maxSkillFiles  = 10_000
	maxSkillDirs   = 10_000
	maxInputs      = 256 // of a call
	maxTreeFiles   = 10_000
	maxTreeDepth   = 16
	maxPath        = 1024 // bytes of a path from outside
	maxPlainName   = 64   // bytes, of the Agent Skills specification
	maxStem        = 40   // bytes of a name that stay readable before its digest
	maxID          = 128  // bytes of a session in the name of its directory
	maxScratch     = 100  // names that are tried for a scratch directory
)

// Bounds of the state of a workspace.
const (
	maxStateBytes = 16 << 20 // of the file with the state
	maxRemembered = 10_000   // names of each kind: pins, attached files, owners
	// maxLoads bounds how many loads of a staged skill are remembered. Several agents share
	// a skill. For a forgotten load the fingerprint of the files is computed again.
	maxLoads = 64
	// Attached content smaller than minSummed bytes is hashed each time. For larger
	// content maxSums sums are remembered.
	minSummed = 64 << 10
	maxSums   = 1000
)

// Bounds of a measurement. If a command has left more, the rest is not measured and the
// workspace counts as full.
const (
	maxUsageEntries = 200_000
	maxUsageDepth   = 100
	// measureEvery is the age at which a measurement is repeated.
	measureEvery = 5 * time.Second
	measureBatch = 256 // entries of a directory that are read at a time
)

const (
	// unlockedAge is the age from which on a directory without a lock file counts
	// as abandoned. A younger one may be about to get its lock.
	unlockedAge = time.Minute
	// maxSiblings bounds how many entries of a shared directory Open looks at.
	maxSiblings = 100_000
	// maxInstanceTries bounds how often Open tries another name for its directory.
	maxInstanceTries = 5
	// sweepsPerIdle is how often idle workspaces are looked for in each idle time.
	sweepsPerIdle = 4
	// maxTidied bounds how many entries are checked for temporary files of a killed process.
	// That takes some tens of milliseconds. Those beyond it stay, but no tool lists them.
	maxTidied = 20_000
	// removeBatch is how many entries of a directory are processed at a time.
	removeBatch = 512
	// copyChunk is how much is written at most between checks of the context, in bytes.
	copyChunk = 4 << 20
)

// File systems count time in steps, often of some milliseconds. A change in the same step as
// the seal would go unnoticed, so the seal waits for the next step.
const (
	settleTries = 50
	settlePause = time.Millisecond
)
