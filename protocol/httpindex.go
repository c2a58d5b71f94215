package protocol

import (
	"net/http"
	"slices"

	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// address is one HTTP route of the server. The table in docs/server.md lists them too.
type address struct {
	At    string `json:"at"` // method and path
	Use   string `json:"use"`
	Scope Scope  `json:"scope,omitempty"`
}

// addresses lists the routes of Handler.
var addresses = []address{
	{"POST /rpc", "JSON-RPC 2.0; tools/list names the methods", ""},
	{"POST /blobs", "create a blob of the body, with ttl_s in the query; answers as create_blob", ScopeWrite},
	{"GET /blobs", "list blobs, with limit and cursor; answers as list_blobs", ScopeRead},
	{"GET /blobs/<id>", "the content of a blob, with Range", ScopeRead},
	{"DELETE /blobs/<id>", "delete a blob; answers as delete_blob", ScopeWrite},
	{"GET /metrics", "metrics for Prometheus", ScopeMetrics},
	{"GET /healthz", "ok, without a token", ""},
	{"GET /", "this list, without a token", ""},
}

// serveIndex answers GET / with the list of addresses.
func (s *Server) serveIndex(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	text, _ := jsonrpc.Marshal(map[string]any{"server": "satchel", "addresses": slices.Concat(addresses, s.addresses)})
	writeJSON(w, http.StatusOK, text)
}
