package author

import "time"

// Bounds of the commands that inspect and validate skills.
const (
	// maxSkillFile is the largest SKILL.md that is read, in bytes. Agents refuse a larger one.
	maxSkillFile = 1 << 20
	// maxPath is the longest line of a list of paths, in bytes: 16 times what Linux takes as a path.
	maxPath = 64 << 10
	// pendingPerWorker is how many files may wait for each worker, so that a slow file does not
	// stop the others and a long list does not fill the memory.
	pendingPerWorker = 16
	// maxAdvisedFiles is how many files of a skill validate looks at. Their names repeat after that.
	maxAdvisedFiles = 2000
	// maxAdviceLines is how many findings validate prints about the files of a skill.
	maxAdviceLines = 20
)

// maxProgress is the longest line of an installer that deps prints, in bytes.
const maxProgress = 4 << 10

// Bounds of the command of --scan.
const (
	// scanWait is how long it may take for a source.
	scanWait = 5 * time.Minute
	// maxScanned is how much of what it says is printed, in bytes.
	maxScanned = 64 << 10
)

// Bounds of a git repository that install reads.
const (
	// maxRepositoryBytes and maxRepositoryFiles are what the files of a repository may have, in
	// bytes and in files. They are those of an archive of skills.
	maxRepositoryBytes = 256 << 20
	maxRepositoryFiles = 10_000
	// maxRepositoryDownload is what a server may send of a repository, in bytes. It is that of an
	// archive of skills.
	maxRepositoryDownload = 64 << 20
	// repositoryWait is how long all commands of git may take together.
	repositoryWait = time.Minute
	// maxNamed is how many skills update names that are not installed.
	maxNamed = 5
	// gitGrace is how long a child of git may hold its output after git has ended.
	gitGrace = time.Second
	// maxGitMemory is the memory of each process of git, in KiB: 1 GiB.
	maxGitMemory = 1 << 20
	// maxGitSeconds is the processor time of each process of git, in seconds.
	maxGitSeconds = 120
	// maxGitFile is the largest file that git writes for a repository of this machine, in blocks of
	// 512 bytes: 1 GiB.
	maxGitFile = 2 << 20
	// maxGitMessage is how much of the messages of git an error shows, in bytes.
	maxGitMessage = 4 << 10
	// maxTreeLine is how much of a line of git ls-tree is kept, in bytes. The size of a file stands
	// before its name, which alone can be longer.
	maxTreeLine = 2 << 10
	// maxRefs is how much of a list of references is read, in bytes. It has a tag and a branch.
	maxRefs = 64 << 10
	// maxPadding is how much may follow the end of a tar archive, in bytes. Git fills its last record
	// of 10 KiB.
	maxPadding = 1 << 20
)
