package steps

// maxMention bounds a skill's name in a message, in runes. The longest name has a folder and a
// name of 64 runes each.
const maxMention = 160
