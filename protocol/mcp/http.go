package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// Handler returns the HTTP handler of MCP, which keeps no sessions. It authenticates callers and
// bounds requests as [protocol.Server.Messages] does. When a request ends, its call is cancelled.
func (s *Server) Handler() (http.Handler, error) {
	open := &requests{}
	server, err := s.server(whoOf)
	if err != nil {
		return nil, err
	}
	server.AddReceivingMiddleware(open.join)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: jsonrpc.MaxMessage, DisableLocalhostProtection: true, // Messages has checked Host
	})
	return s.from.Messages(func(w http.ResponseWriter, r *http.Request, who protocol.Principal) {
		if tooMany(r) {
			http.Error(w, "want at most "+strconv.Itoa(maxBatch)+" messages at once", http.StatusBadRequest)
			return
		}
		id := strconv.FormatInt(open.last.Add(1), 10)
		ctx := context.WithValue(r.Context(), answeredKey{}, new(atomic.Int64))
		open.all.Store(id, context.WithValue(ctx, whoKey{}, who))
		defer open.all.Delete(id)
		r.Header.Set(requestHeader, id)
		handler.ServeHTTP(plainWriter{w}, r)
	}), nil
}

// tooMany reports whether the body of a request is a batch of more than maxBatch messages. The
// body can be read again afterwards.
func tooMany(r *http.Request) bool {
	raw, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(raw))
	if err != nil || !bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("[")) {
		return false
	}
	_, err = plainjson.Elements(raw, maxBatch)
	return errors.Is(err, plainjson.ErrSize)
}

// requestHeader carries the number of a request to the handler of its messages. The SDK passes
// headers on, but neither the end of a request nor its principal.
const requestHeader = "Satchel-Request"

// requests holds the requests that are being answered.
type requests struct {
	last atomic.Int64
	all  sync.Map // contexts by the value of requestHeader
}

// join gives the call of a request the values of the request, and cancels it when the request ends.
func (o *requests) join(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		extra := req.GetExtra()
		if extra == nil {
			return nil, context.Canceled // the call is not of a request
		}
		found, _ := o.all.Load(extra.Header.Get(requestHeader))
		request, ok := found.(context.Context)
		if !ok {
			return nil, context.Canceled // the request has ended
		}
		ctx, cancel := context.WithCancel(jointContext{ctx, request})
		defer cancel()
		stop := context.AfterFunc(request, cancel)
		defer stop()
		return next(ctx, method, req)
	}
}

// jointContext is a context that also has the values of a request.
type jointContext struct {
	context.Context
	request context.Context
} //nolint:containedctx // it is a context itself

// Value implements context.Context.
func (j jointContext) Value(key any) any {
	if v := j.Context.Value(key); v != nil {
		return v
	}
	return j.request.Value(key)
}

// answeredKey is the context key of the number of bytes in the answers to a request.
type answeredKey struct{}

// boundAnswers refuses answers that exceed maxAnswers, before they are encoded.
func boundAnswers(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if err != nil || result == nil {
			return result, err
		}
		answered, ok := ctx.Value(answeredKey{}).(*atomic.Int64)
		if !ok {
			answered = new(atomic.Int64)
		}
		size := int64(plainjson.SizeOf(result, maxAnswers))
		if answered.Add(size) > maxAnswers {
			answered.Add(-size)
			return nil, &sdkrpc.Error{Code: jsonrpc.CodeTooLarge, Message: fmt.Sprintf("the answers have more than %d bytes: ask for less at once", maxAnswers)}
		}
		return result, nil
	}
}

// whoKey is the context key of the principal of a request.
type whoKey struct{}

// whoOf returns the principal of the request in ctx. Without one it returns the zero Principal,
// which has no scopes.
func whoOf(ctx context.Context) protocol.Principal {
	who, _ := ctx.Value(whoKey{}).(protocol.Principal)
	return who
}
