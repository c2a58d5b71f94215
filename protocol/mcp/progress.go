package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progress returns the arguments of a tool call, and a function that sends the client the
// progress of a run. The function is nil if the client has not asked for progress by
// _meta.progressToken. Notifications are numbered, because the length of a run is unknown.
func progress(ctx context.Context, req *mcp.CallToolRequest, method string) (json.RawMessage, func(string, any)) {
	token := req.Params.GetProgressToken()
	var arguments map[string]json.RawMessage
	if token == nil || method != "execute_skill" && method != "run_code" || json.Unmarshal(req.Params.Arguments, &arguments) != nil || arguments == nil {
		return req.Params.Arguments, nil
	}
	arguments["progress_token"] = json.RawMessage("0") // the token of the client may be longer than the server accepts
	text, err := json.Marshal(arguments)
	if err != nil {
		return req.Params.Arguments, nil
	}
	count := 0.0
	return text, func(_ string, params any) {
		fields, _ := params.(map[string]any)
		stage, _ := fields["stage"].(string)
		message, _ := fields["message"].(string)
		count++
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: count, Message: strings.TrimSpace(stage + " " + message),
		})
	}
}
