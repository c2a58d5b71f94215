package protocol

import "slices"

// Scope is a permission of a caller.
type Scope string

// The scopes.
const (
	ScopeRead    Scope = "read"    // list and read skills, read blobs
	ScopeRun     Scope = "run"     // execute skills and run code
	ScopeWrite   Scope = "write"   // create blobs and skills
	ScopeMetrics Scope = "metrics" // read metrics
)

// Principal is the caller of a method. Each tenant has its own blobs, created skills, cursors and
// places for runs.
type Principal struct {
	Tenant, Name string
	Scopes       []Scope
}

// LocalPrincipal returns the principal of calls over standard streams, over the unix socket, and
// over HTTP without WithAuth: tenant "local" with all scopes but metrics.
func LocalPrincipal() Principal {
	return Principal{Tenant: "local", Name: "local", Scopes: []Scope{ScopeRead, ScopeRun, ScopeWrite}}
}

// Has reports whether the principal has a scope.
func (p Principal) Has(s Scope) bool { return slices.Contains(p.Scopes, s) }
