package session

// Report says what a store can lose, so that a host does not expect too much of it.
type Report struct {
	// Engine names the software that stores the data, such as "redis", and Version is its
	// version.
	Engine  string `json:"engine"`
	Version string `json:"version,omitempty"`
	// Loses says which acknowledged data can be lost and when, in one line each. Empty means
	// none.
	Loses []string `json:"loses,omitempty"`
}

// Reporter is a [Store] that says what it can lose.
type Reporter interface{ Report() Report }

var (
	_ Reporter = (*Memory)(nil)
	_ Reporter = (*Directory)(nil)
)

// Report implements [Reporter].
func (m *Memory) Report() Report {
	return Report{Engine: "memory", Loses: []string{"everything when the process ends", "the session that was used least recently when there are too many"}}
}

// Report implements [Reporter].
func (d *Directory) Report() Report {
	r := Report{Engine: "directory", Loses: []string{"everything when the disk is lost"}}
	if !d.sync {
		r.Loses = append(r.Loses, "the latest records when the machine stops (WithSync(false))")
	}
	return r
}
