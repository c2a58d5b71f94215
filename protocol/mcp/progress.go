package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progress returns the arguments of a call of a tool, and what tells its client how
// far a run is: nil where it has not asked (_meta.progressToken). The number of a
// notification is only a count: nobody knows how long a run takes.
func progress(ctx context.Context, req *mcp.CallToolRequest, method string) (json.RawMessage, func(string, any)) {
	token := req.Params.GetProgressToken()
	var arguments map[string]json.RawMessage
	if token == nil || method != "execute_skill" && method != "run_code" || json.Unmarshal(req.Params.Arguments, &arguments) != nil || arguments == nil {
		return req.Params.Arguments, nil
	}
	arguments["progress_token"] = json.RawMessage("0") // the client's own may be larger than the server takes
	text, err := json.Marshal(arguments)
	if err != nil {
		return req.Params.Arguments, nil
	}
	count := 0.0
	return text, func(_ string, params any) {
		told, _ := params.(map[string]any)
		stage, _ := told["stage"].(string)
		message, _ := told["message"].(string)
		count++
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: count, Message: strings.TrimSpace(stage + " " + message),
		})
	}
}
