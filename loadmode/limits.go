package loadmode

// DefaultMax is how many skills an agent can have loaded at once by default. Each skill adds
// its text to every request.
const DefaultMax = 8
