package summary

// maxNames is how many skills have a row of their own in a [Usage].
const maxNames = 200
