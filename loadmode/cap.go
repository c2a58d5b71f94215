package loadmode

// Candidate is a loaded skill that can be unloaded to make room for another one.
type Candidate struct {
	// Skill is the name of the skill.
	Skill string
	// Used and Loaded are the times of the last use and of the last load, on a clock that counts
	// uses. Loads and selections of docs are uses; reads and runs are not. Both are 0 for a skill
	// that was imported with its session.
	Used, Loaded int
}

// Victim chooses the skill to unload when an agent has one too many. It gets the candidates in
// load order and returns the Skill of one of them. For any other result the least recently used
// skill is unloaded.
type Victim func(candidates []Candidate) string
