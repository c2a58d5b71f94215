package workspace

import "time"

// These values replace options that are not given. A skill's files are some megabytes; the
// sizes leave room for documents and data of users.
const (
	defaultMaxBytes     = 1 << 30   // of a workspace: as executor.Limits.Disk
	defaultMaxFileBytes = 256 << 20 // as executor.Limits.FileBytes
	defaultMaxTotal     = 16 << 30  // bytes of all workspaces
	defaultIdle         = time.Hour
)

// Bounds of what is brought into a workspace.
const (
	maxAttachments = 1000 // files of a conversation
	maxSameNames   = 1000 // names that are tried for a file before it is refused
	maxNameBytes   = 200  // leaves room for a number; file systems allow 255
	maxSkillFiles  = 10_000
	maxSkillDirs   = 10_000
	maxInputs      = 256 // of a call
	maxTreeFiles   = 10_000
	maxTreeDepth   = 16
	maxPath        = 1024 // bytes of a path from outside
	maxPlainName   = 64   // bytes, of the Agent Skills specification
	maxStem        = 40   // bytes of a name that are kept beside a digest
	maxID          = 128  // bytes of a session in the name of its directory
	maxScratch     = 100  // names that are tried for a scratch directory
)

// Bounds of what is remembered about a workspace.
const (
	maxStateBytes = 16 << 20 // of the file with the state
	maxRemembered = 10_000   // names of each kind: pins, attached files, owners
	// maxLoads bounds how many loads of a skill are remembered, those of many agents.
	// For a forgotten load the files are looked at again.
	maxLoads = 64
	// Attached content smaller than minSummed bytes is hashed each time. For larger
	// content maxSums sums are remembered.
	minSummed = 64 << 10
	maxSums   = 1000
)

// Bounds of a measurement. If a command has left more than that, the rest is
// not looked at and the workspace counts as full.
const (
	maxUsageEntries = 200_000
	maxUsageDepth   = 100
	// measureEvery is the time after which an earlier measurement counts no more.
	measureEvery = 5 * time.Second
)

const (
	// unlockedAge is the age from which on a directory without a lock file counts
	// as abandoned. A younger one may be about to get its lock.
	unlockedAge = time.Minute
	// maxSiblings bounds how many entries of a shared directory Open looks at.
	maxSiblings = 100_000
	// maxTidied bounds how many entries are checked for what a killed process left,
	// which takes some tens of milliseconds. Anything that is left beyond that is
	// never shown.
	maxTidied = 20_000
	// removeBatch is how many entries of a directory are processed at a time.
	removeBatch = 512
	// copyChunk is how much is written at most between checks of the context, in bytes.
	copyChunk = 4 << 20
)

// File systems count time in steps, often of some milliseconds. A change in the
// same step as the seal would not show, so the seal waits for the next step.
const (
	settleTries = 50
	settlePause = time.Millisecond
)
