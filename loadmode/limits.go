package loadmode

// DefaultMax is how many skills an agent can have loaded at once if the host sets no other
// number. Each further skill costs its text in every request.
const DefaultMax = 8
