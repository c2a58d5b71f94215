package steps

// maxMention bounds a name in a message, in runes: a root and a name of 64 each fit.
const maxMention = 160
