package needs

import "time"

const (
	// maxWords is how many unmet needs the answer to a load names, and how many programs of one need.
	maxWords = 5
	// maxPrograms is how many programs one probe looks for. The others are not judged.
	maxPrograms = 100_000
	// probeTimeout bounds one probe.
	probeTimeout = time.Minute
	// retryAfter is how long after a probe that failed the next one may begin.
	retryAfter = time.Minute
	// lookAgainAfter is how long after a probe a missing program may be looked for again.
	lookAgainAfter = time.Minute
	// MaxWait is how long the first request of a session waits for a probe, if skills are hidden.
	MaxWait = 2 * time.Second
)
