package hostfiles

// maxNoted is how many files of the host one note lists, because all later views contain the
// note. An answer of skill_run lists all files.
const maxNoted = 100
