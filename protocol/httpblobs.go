package protocol

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// serveUpload answers POST /blobs: the body is the content, ttl_s is in the query.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request, who Principal, _ *admission) {
	result, err := s.direct(r, who, "POST /blobs", ScopeWrite, func(c *call) (result any, err error) {
		var p struct {
			TTL *int64 `json:"ttl_s"`
		}
		if c.params, err = json.Marshal(queryOf(r)); err == nil {
			err = c.decode(&p)
		}
		if err != nil {
			return nil, err
		}
		lifetime, err := c.lifetime(p.TTL)
		if err != nil {
			return nil, err
		}
		kind := cmp.Or(r.Header.Get("Content-Type"), "application/octet-stream")
		result, err = c.keepBlob(r.Context(), kind, newPacedBody(w, http.MaxBytesReader(w, r.Body, maxBlob+1), blobWait), maxBlob, lifetime)
		return withWarnings(result, c.warn), err
	})
	if err != nil {
		writeError(w, blobStatus(err), err)
		return
	}
	text, _ := json.Marshal(result)
	writeJSON(w, http.StatusOK, text)
}

func blobStatus(fault *jsonrpc.Error) int {
	switch fault.Code {
	case codeTooLarge:
		return http.StatusRequestEntityTooLarge
	case codeNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeParams:
		return http.StatusBadRequest
	case jsonrpc.CodeInternal:
		return http.StatusInternalServerError
	}
	return statusOf(fault)
}

// direct answers a request that is no JSON-RPC as a method is answered: it checks the scope,
// records the call and maps the error.
func (s *Server) direct(r *http.Request, who Principal, name string, scope Scope, answer func(*call) (any, error)) (any, *jsonrpc.Error) {
	began := time.Now()
	record := Record{Method: name, Tenant: who.Tenant, Name: who.Name}
	var result any
	err := error(fault(codeForbidden, "forbidden", "needs scope %q", scope))
	if who.Has(scope) {
		result, err = answer(&call{Server: s, Principal: who, record: &record})
	}
	var refusal *jsonrpc.Error
	if err != nil {
		refusal = s.errorFor(r.Context(), err, name)
		record.Code = refusal.Code
	}
	record.Duration = time.Since(began)
	s.recordCall(r.Context(), record)
	return result, refusal
}

// serveBlobs answers GET /blobs: a page of the tenant's blobs.
func (s *Server) serveBlobs(w http.ResponseWriter, r *http.Request, who Principal, _ *admission) {
	s.serveDirect(w, r, who, "GET /blobs", ScopeRead, (*call).listBlobs, queryOf(r))
}

// queryOf returns the query of a request as parameters.
func queryOf(r *http.Request) map[string]any {
	params := map[string]any{}
	for name, values := range r.URL.Query() {
		params[name] = values[0]
		if n, err := strconv.ParseInt(values[0], 10, 64); (name == "limit" || name == "ttl_s") && err == nil {
			params[name] = n
		}
	}
	return params
}

// serveDelete answers DELETE /blobs/<id>.
func (s *Server) serveDelete(w http.ResponseWriter, r *http.Request, who Principal, _ *admission) {
	s.serveDirect(w, r, who, "DELETE /blobs", ScopeWrite, (*call).deleteBlob, map[string]any{"blob_id": r.PathValue("id")})
}

// serveDirect answers a request with the result of a method, called with params.
func (s *Server) serveDirect(w http.ResponseWriter, r *http.Request, who Principal, name string, scope Scope, method func(*call, context.Context) (any, error), params map[string]any) {
	result, err := s.direct(r, who, name, scope, func(c *call) (result any, err error) {
		if c.params, err = json.Marshal(params); err == nil {
			result, err = method(c, r.Context())
		}
		return withWarnings(result, c.warn), err
	})
	if err != nil {
		writeError(w, blobStatus(err), err)
		return
	}
	text, _ := jsonrpc.Marshal(result)
	writeJSON(w, http.StatusOK, text)
}

// serveBlob answers GET /blobs/<id>, with Range. Its headers keep browsers from showing the blob
// as a page.
func (s *Server) serveBlob(w http.ResponseWriter, r *http.Request, who Principal, _ *admission) {
	result, err := s.direct(r, who, "GET /blobs", ScopeRead, func(c *call) (any, error) {
		return c.store.Stat(r.Context(), c.Tenant, r.PathValue("id"))
	})
	if err != nil {
		writeError(w, blobStatus(err), err)
		return
	}
	info, _ := result.(blobs.Info)
	w.Header().Set("Content-Type", info.Kind)
	w.Header().Set("Content-Disposition", "attachment")
	w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
	w.Header().Set("ETag", `"`+info.SHA256+`"`)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(blobWait))
	content := &blobReader{ctx: r.Context(), store: s.store, tenant: who.Tenant, info: info}
	defer content.close()
	http.ServeContent(w, r, "", time.Time{}, content)
}

// blobReader is an io.ReadSeeker over a blob, for http.ServeContent. Seek closes the reader of the
// store; the next Read opens one at the new offset.
type blobReader struct {
	ctx    context.Context //nolint:containedctx // of the request; the blobReader ends before it
	store  blobs.Store
	tenant string
	info   blobs.Info
	at     int64
	open   io.ReadCloser
}

func (b *blobReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += b.at
	case io.SeekEnd:
		offset += b.info.Size
	}
	if offset < 0 {
		return b.at, errors.New("seek before the beginning")
	}
	b.close()
	b.at = offset
	return offset, nil
}

func (b *blobReader) Read(p []byte) (n int, err error) {
	if b.open == nil {
		if b.open, _, err = b.store.Open(b.ctx, b.tenant, b.info.ID, b.at, -1); err != nil {
			return 0, err
		}
	}
	n, err = b.open.Read(p)
	b.at += int64(n)
	return n, err
}

func (b *blobReader) close() {
	if b.open != nil {
		_ = b.open.Close()
		b.open = nil
	}
}
