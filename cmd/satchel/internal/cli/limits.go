package cli

// MaxFindings bounds how many findings about skills are printed one by one.
const MaxFindings = 20

// MaxDescribed bounds a description in the table, in characters.
const MaxDescribed = 80
