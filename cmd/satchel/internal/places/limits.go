package places

// maxLock is the largest lock file, in bytes: 50,000 skills with their files.
const maxLock = 64 << 20

// maxAudience is the largest file of an audience, in bytes: about 20,000 names of skills. It is
// read again at each turn.
const maxAudience = 1 << 20

// maxVectors is the largest answer with vectors, in bytes. A call asks for 128 texts, and large models
// return 4,096 numbers for each.
const maxVectors = 64 << 20

// maxRef and maxRepositoryPath bound the reference and the folder in the address of a repository, in
// bytes.
const (
	maxRef            = 256
	maxRepositoryPath = 1024
)

// installerLevels is how many directories are searched for the lock file of the common installer:
// that of the skills and two above it, because a project has .agents/skills.
const installerLevels = 3
