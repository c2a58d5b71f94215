package loadmode

// Candidate is a loaded skill that can make room for another one.
type Candidate struct {
	// Skill is its name.
	Skill string
	// Used and Loaded are the times of its last use and of its last load, on a clock
	// that counts uses. Loads and selections of docs count as use; reads and runs do
	// not. Both are 0 for a skill that was imported with its session.
	Used, Loaded int
}

// Victim chooses which loaded skill to unload when there is one too many. It
// returns the Skill of one of the candidates, which are in load order; for any
// other answer the least recently used skill is unloaded.
type Victim func(candidates []Candidate) string
