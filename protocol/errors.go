package protocol

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
	"github.com/satchel-go/satchel/protocol/internal/run"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// The error codes of the server beside those of JSON-RPC.
const (
	codeUnauthenticated = -32001
	codeForbidden       = -32003
	codeNotFound        = -32004
	codeTooLarge        = jsonrpc.CodeTooLarge
	codeBusy            = -32006
	codeUnavailable     = -32007
	codeExists          = -32008
)

// Error is an error of the protocol, as the caller of a method gets it. docs/server.md lists
// the codes.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	// Data holds "kind" and what the kind needs, such as the "field" of wrong parameters.
	Data any `json:"data,omitempty"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// fault returns an error of the protocol with "kind" in its data.
func fault(code int, kind, format string, args ...any) *jsonrpc.Error {
	data := map[string]any{"kind": kind}
	if code == codeBusy {
		data["retry_after_ms"] = retryAfter
	}
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...), Data: data}
}

// badParam returns the error for a wrong parameter. The message is the field and the text, which
// begins with a verb ("is missing") or with "want …".
func badParam(field, format string, args ...any) *jsonrpc.Error {
	text := fmt.Sprintf(format, args...)
	if strings.HasPrefix(text, "want ") {
		text = field + ": " + text
	} else {
		text = field + " " + text
	}
	return paramError(field, text)
}

// paramError returns the error for a wrong parameter with a complete message.
func paramError(field, message string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: message, Data: map[string]any{"kind": "params", "field": field}}
}

// errorOf maps err to a JSON-RPC error, or returns nil for internal errors.
func errorOf(ctx context.Context, err error) *jsonrpc.Error {
	var public *jsonrpc.Error
	var unknown *skillset.NotFoundError
	var manifest *skillset.ManifestError
	var path *skillset.PathError
	switch {
	case errors.As(err, &public):
		return public
	case ctx.Err() != nil:
		return fault(jsonrpc.CodeCancelled, "cancelled", "cancelled")
	case errors.As(err, &unknown):
		if len(unknown.Versions) > 0 {
			return fault(codeNotFound, "version", "%v", err)
		}
		return fault(codeNotFound, "skill", "%v", err)
	case errors.As(err, &manifest):
		switch manifest.Field { // without the file and line, which the caller does not have
		case "":
			return paramError("manifest", "manifest: "+manifest.Why)
		case "skill_md":
			return paramError("skill_md", "skill_md: "+manifest.Why)
		}
		return paramError("manifest", "manifest."+manifest.Field+": "+manifest.Why)
	case errors.As(err, &path):
		return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: path.Error(), Data: map[string]any{"kind": "params", "field": "path"}}
	case errors.Is(err, blobs.ErrUnknown):
		return fault(codeNotFound, "blob", "%v", err)
	case errors.Is(err, blobs.ErrTooLarge):
		return fault(codeTooLarge, "size", "%v", err)
	case errors.Is(err, blobs.ErrQuota):
		return fault(codeTooLarge, "quota", "%v: delete blobs (delete_blob, or DELETE /blobs/<id>)", err)
	case errors.Is(err, skillset.ErrFull):
		return fault(codeTooLarge, "quota", "%v", err)
	case errors.Is(err, skillset.ErrExists):
		return fault(codeExists, "exists", "%v", err)
	case errors.Is(err, skillset.ErrRemote):
		return fault(codeUnavailable, "unavailable", "%v", err)
	case errors.Is(err, skillset.ErrChanged):
		return fault(codeNotFound, "file", "the files of the skill are not as they were listed a moment ago: they are being changed, or the server cannot read them: call again later")
	case errors.Is(err, fs.ErrNotExist):
		return fault(codeNotFound, "file", "%v", err)
	case errors.Is(err, run.ErrBusy):
		return fault(codeBusy, "busy", "%v", err)
	case errors.Is(err, run.ErrStopping), errors.Is(err, run.ErrUnavailable), errors.Is(err, executor.ErrSetup), errors.Is(err, executor.ErrCommand):
		return fault(codeUnavailable, "unavailable", "%v", err)
	}
	return nil
}
