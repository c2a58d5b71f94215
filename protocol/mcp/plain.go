package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// wrongType finds field and type in an error of the SDK about a value of another type.
var wrongType = regexp.MustCompile(`Go (?:struct field \w+\.\w+\.([\w.]+)|value) of type ([\w.*\[\]{} ]+)`)

// plainText replaces an error text of the SDK that names Go types. It reports whether it has
// changed the text.
func plainText(text string) (string, bool) {
	switch found := wrongType.FindStringSubmatch(text[max(strings.LastIndex(text, `" into a `), 0):]); {
	case found != nil && found[1] != "":
		return found[1] + ": want " + kindOf(found[2]), true
	case strings.Contains(text, "unmarshaling jsonrpc message"):
		return "the message cannot be read: want a JSON object with jsonrpc, id, method and params", true
	case strings.Contains(text, "invalid ID type"):
		return "id: want a string or an integer", true
	case found != nil:
		return "params: want an object", true
	case strings.Contains(text, "unmarshaling"):
		return "params cannot be read: want those of the method", true
	}
	return text, false
}

// kindOf returns what JSON calls a Go type.
func kindOf(goType string) string {
	switch {
	case goType == "string":
		return "a string"
	case goType == "bool":
		return "true or false"
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"), strings.HasPrefix(goType, "float"):
		return "a number"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	}
	return "an object"
}

// plainError returns the error of a response without Go types.
func plainError(err error) error {
	if text, changed := plainText(err.Error()); changed {
		return &sdkrpc.Error{Code: sdkrpc.CodeInvalidParams, Message: text}
	}
	return err
}

// plainWriter writes HTTP answers of the SDK without Go types in their errors. The SDK writes each
// response, or event of a stream, by one Write.
type plainWriter struct{ http.ResponseWriter }

// Unwrap lets an [http.ResponseController] flush.
func (w plainWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write implements http.ResponseWriter.
func (w plainWriter) Write(p []byte) (int, error) {
	if _, changed := plainText(string(p[:min(len(p), maxPlain)])); changed {
		if _, err := w.ResponseWriter.Write(plainAnswer(p)); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// plainAnswer returns an answer of the SDK without Go types in its error. It does not change
// results.
func plainAnswer(p []byte) []byte {
	at := bytes.IndexByte(p, '{')
	if at < 0 || p[0] != '{' && !bytes.Contains(p[:at], []byte("data: ")) { // plain text, no JSON
		text, _ := plainText(string(p))
		return []byte(text + "\n")
	}
	var answer struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitempty"`
		Error   *sdkrpc.Error   `json:"error,omitempty"`
	}
	if err := json.Unmarshal(p[at:], &answer); err != nil || answer.Error == nil {
		return p
	}
	answer.Error, _ = errors.AsType[*sdkrpc.Error](plainError(answer.Error))
	text, err := json.Marshal(answer)
	if err != nil {
		return p
	}
	return append(append(p[:at:at], text...), p[at+len(bytes.TrimRight(p[at:], "\n")):]...)
}

// recoverPanics answers a call that panics with an error: the SDK would end the process.
func (s *Server) recoverPanics(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if thrown := recover(); thrown != nil {
				refusal := s.from.Internal(fmt.Errorf("panic: %v", thrown), method)
				result, err = nil, &sdkrpc.Error{Code: int64(refusal.Code), Message: refusal.Message}
			}
		}()
		return next(ctx, method, req)
	}
}
