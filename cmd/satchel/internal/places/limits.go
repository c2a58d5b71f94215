package places

// maxLock is the largest lock file, in bytes: 50,000 skills with their files.
const maxLock = 64 << 20
