package satchel

import (
	"context"

	"github.com/satchel-go/satchel/core"
)

// Agent is one agent in one session, from [Runtime.Agent]. It is a small value
// that holds no state of its own: everything is kept under its key. It is safe
// for concurrent use.
type Agent struct {
	runtime *Runtime
	key     core.SessionKey
}

// Agent returns the agent with this key. The key names a session and an agent in
// it; nothing has to exist under it yet.
func (r *Runtime) Agent(key core.SessionKey) Agent { return Agent{runtime: r, key: key} }

// Prepare returns the request as the model should be sent it; see
// [Runtime.Prepare]. The key of req is replaced by the agent's. During
// [Runtime.Shutdown] it fails with [errShutdown].
func (a Agent) Prepare(ctx context.Context, req core.Request) (core.View, error) {
	req.Key = a.key
	return a.runtime.Prepare(ctx, req)
}
