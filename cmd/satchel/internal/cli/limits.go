package cli

import "time"

// MaxFindings is how many findings about skills are printed one by one: about a screen.
const MaxFindings = 20

// MaxDescribed is the length of a description in a table, in characters. A row still fits a
// wide terminal.
const MaxDescribed = 80

// maxPrompt is the length of a line of standard input, in bytes. A longer line is no prompt of a
// person, and no model reads it whole.
const maxPrompt = 1 << 20

// minLastColumn is the least width of the last column of a table, in columns. A shorter text says
// nothing.
const minLastColumn = 12

// progressDelay is how long work lasts before its progress is shown. Shorter work would flicker.
const progressDelay = 300 * time.Millisecond
