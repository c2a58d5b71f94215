package artifactstest

// limit is the limit of the Saves of most tests, in bytes: more than they save.
const limit = 8 << 20
