package protocol

import "slices"

// Scope is what a caller may do.
type Scope string

// The scopes.
const (
	ScopeRead    Scope = "read"    // list and read skills, read blobs
	ScopeRun     Scope = "run"     // execute skills and run code
	ScopeWrite   Scope = "write"   // create blobs and skills
	ScopeMetrics Scope = "metrics" // read metrics
)

// Principal is who calls. Everything of a tenant is apart from that of others.
type Principal struct {
	Tenant, Name string
	Scopes       []Scope
}

// LocalPrincipal is who calls by standard streams, by the unix socket, and by HTTP
// without authentication: tenant "local", with all scopes but metrics.
func LocalPrincipal() Principal {
	return Principal{Tenant: "local", Name: "local", Scopes: []Scope{ScopeRead, ScopeRun, ScopeWrite}}
}

// Has reports whether the principal has a scope.
func (p Principal) Has(s Scope) bool { return slices.Contains(p.Scopes, s) }
