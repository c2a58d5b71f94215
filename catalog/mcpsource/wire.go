package mcpsource

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// extension is the identifier of the skills extension.
const extension = "io.modelcontextprotocol/skills"

type listParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

type listResult struct {
	mcp.ResultBase
	Skills     []listed `json:"skills"`
	NextCursor string   `json:"nextCursor"`
}

type getParams struct {
	mcp.ParamsBase
	URI string `json:"uri"`
}

type getResult struct {
	mcp.ResultBase
	Skill listed `json:"skill"`
}

// listed is a skill as a server describes it.
type listed struct {
	URI         string          `json:"uri"`
	Frontmatter map[string]any  `json:"frontmatter"`
	Resources   json.RawMessage `json:"resources"` // files, or "dynamic"
}

type resource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   *int64 `json:"size"`
}
