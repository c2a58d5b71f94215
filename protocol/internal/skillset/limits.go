package skillset

import "time"

// Bounds of a skill.
const (
	// MaxManifest bounds a skill.toml, in bytes.
	MaxManifest = 64 << 10
	// MaxFile bounds a file of a skill that can be read, in bytes: it is read as a whole.
	MaxFile = 64 << 20
	// maxHead bounds the front matter of a SKILL.md, in bytes, as sources do.
	maxHead = 64 << 10
	// maxPath bounds the path of a file, in bytes.
	maxPath = 512
	// maxID bounds an id and a version, in bytes.
	maxID = 128
	// maxDescription bounds a description, in bytes.
	maxDescription = 4096
	// maxTags, maxInputs, maxAddresses and maxSecrets bound the lists of a skill.toml.
	// ReadManifest drops entries beyond them, with a warning.
	maxTags      = 64
	maxInputs    = 64
	maxAddresses = 64
	maxSecrets   = 16
	// maxWarnings is how many faults of a skill.toml are reported.
	maxWarnings = 32
)

// Bounds of a skill that a caller creates.
const (
	MaxCreatedFiles = 512
	MaxCreatedBytes = 12 << 20 // of all files: in base64 they fit a message
	maxFolders      = 512      // below the skill
	maxFolderDepth  = 32       // folders in a path
	// maxNesting is how deep the values of a manifest may be nested: in TOML each table repeats
	// the names of all tables around it.
	maxNesting = 16
)

// Bounds of all that a tenant has created.
const (
	maxVersions      = 1000
	maxTenantCreated = 1 << 30 // bytes
)

// stagingAge is the age from which a staging directory is removed. Other servers may write into the
// directory too, but a write takes less, so a crash has left it.
const stagingAge = time.Hour

// Bounds of errors.
const (
	// maxNear is how many ids a NotFoundError names.
	maxNear = 3
	// maxNamedVersions is how many versions it names.
	maxNamedVersions = 20
)

// Times of listing and watching.
const (
	// longRefresh is the duration of a listing from which on callers do not list again while
	// Watch is running.
	longRefresh = 20 * time.Millisecond
	// watchGap is the least time between two listings of this machine: editors write several
	// files at once.
	watchGap = 500 * time.Millisecond
	// remoteGap is the same for other servers, whose listing is a request.
	remoteGap = 2 * time.Second
	// watchCreated is how often Watch looks for skills that other servers have created.
	watchCreated = time.Second
	// coarseTime is how much a file system may round the time of a change. A folder that was
	// read within this time after its last change is read again.
	coarseTime = 2 * time.Second
)
