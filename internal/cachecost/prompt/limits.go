package prompt

// maxBytes bounds a file of captures, in bytes. Captures of long conversations have some
// megabytes.
const maxBytes = 256 << 20
