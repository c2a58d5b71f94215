package hostfiles

// maxNoted is how many files of the host one note lists: the note stands in all later views.
// An answer of skill_run lists all files.
const maxNoted = 100
