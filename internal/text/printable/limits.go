package printable

// maxMarks bounds how many marks joins skips between a joiner and its letter. Letters of real
// words have at most four.
const maxMarks = 8
