package main

// maxFlagHelp is the length of the help of a flag in the completions of fish, in characters. It
// fits one line beside the flag.
const maxFlagHelp = 70
