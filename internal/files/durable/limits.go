package durable

// removeTries is how often the removal of an ended session's files is tried. A try fails only
// if a writer that has not noticed the end adds a file at that moment.
const removeTries = 5
