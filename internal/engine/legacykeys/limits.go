package legacykeys

const (
	// maxSkills is how many loaded skills are read, far more than any agent loads.
	maxSkills = 10_000
	// maxList is how many bytes a list of names may have: 10,000 names of a hundred bytes.
	maxList = 1 << 20
)
