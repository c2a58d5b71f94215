package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
	"github.com/satchel-go/satchel/protocol/internal/run"
)

// extension is the identifier of the skills extension.
const extension = "io.modelcontextprotocol/skills"

// Server answers MCP. New returns one.
type Server struct {
	from *protocol.Server

	mu         sync.Mutex
	catalogues map[string]catalogue // by tenant
}

// New returns an MCP server for the tools and the skills of another server.
func New(from *protocol.Server) *Server {
	return &Server{from: from, catalogues: make(map[string]catalogue)}
}

// Run answers one connection for one principal. It returns when ctx ends, or when the input ends
// and all calls before have been answered.
func (s *Server) Run(ctx context.Context, transport mcp.Transport, who protocol.Principal) error {
	server, err := s.server(func(context.Context) protocol.Principal { return who })
	if err != nil {
		return err
	}
	return server.Run(ctx, drainTransport{transport})
}

// server returns the server of the SDK. who returns the principal of a context.
func (s *Server) server(who func(context.Context) protocol.Principal) (*mcp.Server, error) {
	// The SDK answers calls about prompts and log levels with empty results, so both are
	// declared. The list of tools never changes.
	capabilities := &mcp.ServerCapabilities{
		Resources: &mcp.ResourceCapabilities{}, Tools: &mcp.ToolCapabilities{},
		Prompts: &mcp.PromptCapabilities{}, Logging: &mcp.LoggingCapabilities{}, //nolint:staticcheck // clients of earlier versions ask for it
	}
	capabilities.AddExtension(extension, map[string]any{"directoryRead": true})
	server := mcp.NewServer(&mcp.Implementation{Name: "satchel", Version: "1"}, &mcp.ServerOptions{
		Capabilities: capabilities,
		Instructions: "If you have not yet read the Skills Protocol Guide, call load_skills_protocol_guide before the other tools. Its workflow: discover, inspect, run or write code, use blobs for large data.",
	})
	for _, tool := range s.from.Tools() {
		server.AddTool(&mcp.Tool{Name: tool.Name, Description: tool.Description, InputSchema: tool.Schema}, s.toolHandler(who, tool.Name))
	}
	answers := &skills{s, who}
	server.AddReceivingMiddleware(s.recoverPanics, boundAnswers, answers.resources)
	return server, errors.Join(
		mcp.AddReceivingCustomMethod(server, "skills/list", answers.list),
		mcp.AddReceivingCustomMethod(server, "skills/get", answers.get),
		mcp.AddReceivingCustomMethod(server, "resources/directory/read", answers.directory),
	)
}

// toolHandler returns the handler of the tool for a method. An error of the method is a result
// with isError, so that the model can correct its call. So is a failed run.
func (s *Server) toolHandler(who func(context.Context) protocol.Principal, method string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		arguments, notify := progress(ctx, req, method)
		result, err := s.from.Call(ctx, who(ctx), method, arguments, notify)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			text := "internal error"
			if refusal, ok := errors.AsType[*protocol.Error](err); ok {
				text = refusal.Message
			}
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		}
		text, err := jsonrpc.Marshal(result)
		if errors.Is(err, jsonrpc.ErrTooLong) {
			return nil, &sdkrpc.Error{Code: jsonrpc.CodeTooLarge, Message: fmt.Sprintf("the answer has more than %d bytes: ask for less at once", jsonrpc.MaxMessage)}
		}
		if err != nil {
			return nil, err
		}
		r, ok := result.(run.Result)
		return &mcp.CallToolResult{
			IsError: ok && r.Status == run.Failed, StructuredContent: json.RawMessage(text),
			Content: []mcp.Content{&mcp.TextContent{Text: string(text)}},
		}, nil
	}
}
