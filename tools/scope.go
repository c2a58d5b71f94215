package tools

import (
	"context"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
)

// Scope is what one call may use of the runtime. The runtime makes it, and passes it to the
// operation of the call.
type Scope struct {
	State
	View
	Files
	Events
	// Limits bound the answer. The runtime cuts longer answers; an operation that can
	// answer in parts reads them.
	Limits Limits
}

// State is the agent that a call belongs to.
type State interface {
	// Key returns the session and the agent.
	Key() core.SessionKey
	// Begin records that the command of the call is about to start. After an error the
	// command must not start.
	Begin(ctx context.Context) error
}

// View is what the agent sees of the skills.
type View interface {
	// Catalog returns the skills that the agent may load.
	Catalog() *catalog.Catalog
}

// Files are the files of the agent's session.
type Files interface {
	// Attached returns what users attached to the messages of the last request. The caller
	// must not change the result.
	Attached() []core.File
	// Runs reports whether skills run here. If not, there is no workspace.
	Runs() bool
	// Workspace returns the absolute path at which commands see the workspace, "" for none.
	Workspace(ctx context.Context) (string, error)
	// ReadRef returns the content of workspace://path or artifact://name. Errors that the
	// model can act on are [ModelError]s.
	ReadRef(ctx context.Context, ref string) ([]byte, error)
	// Run answers a call of skill_run with these arguments.
	Run(ctx context.Context, arguments string) (string, error)
}

// Events takes what a call reports to the host.
type Events interface {
	// Emit reports an event. It fills in Key and Call.
	Emit(ctx context.Context, e core.Event)
}
