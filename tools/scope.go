package tools

import (
	"context"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
)

// Scope is what an operation may use of the runtime in one call. The runtime passes it to the
// operation.
type Scope struct {
	State
	View
	Files
	Events
	// Limits bounds the answer; no field is zero. The runtime cuts longer answers. An operation
	// that can answer in parts should keep to them.
	Limits Limits
}

// State identifies the agent of a call, and notes the start of its command.
type State interface {
	// Key returns the session and the agent.
	Key() core.SessionKey
	// Begin notes that the command of the call is about to start. If it returns an error, the
	// command must not start.
	Begin(ctx context.Context) error
}

// View is the agent's view of the skills.
type View interface {
	// Catalog returns the skills that the agent may load.
	Catalog() *catalog.Catalog
}

// Files gives access to the files of the agent's session.
type Files interface {
	// Attached returns the files that users attached to the messages of the last request. Callers
	// must not change the result.
	Attached() []core.File
	// Runs reports whether commands run here. If not, there is no workspace.
	Runs() bool
	// Workspace returns the absolute path at which commands see the workspace, "" for none.
	Workspace(ctx context.Context) (string, error)
	// ReadRef returns the content of workspace://path or artifact://name. Errors for the model
	// are [ModelError]s.
	ReadRef(ctx context.Context, ref string) ([]byte, error)
	// Run answers a call of skill_run with these arguments.
	Run(ctx context.Context, arguments string) (string, error)
}

// Events sends events to the host.
type Events interface {
	// Emit sends an event. It sets Key and Call.
	Emit(ctx context.Context, e core.Event)
}
