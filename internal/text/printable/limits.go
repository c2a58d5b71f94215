package printable

// maxMarks bounds the marks that are looked at between a joiner and its letter: letters of
// real words have at most four.
const maxMarks = 8
