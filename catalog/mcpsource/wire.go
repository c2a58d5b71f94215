package mcpsource

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// extension is the identifier of the skills extension.
const extension = "io.modelcontextprotocol/skills"

type listParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

type listResult struct {
	mcp.ResultBase
	Skills     page   `json:"skills"`
	NextCursor string `json:"nextCursor"`
}

// page is a page of skills. Decoding it fails if it has more than maxPage.
type page []listedSkill

// UnmarshalJSON implements json.Unmarshaler.
func (p *page) UnmarshalJSON(raw []byte) error {
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	list, err := plainjson.Elements(raw, maxPage)
	if err != nil {
		return fmt.Errorf("skills: want a list of at most %d: %w", maxPage, err)
	}
	*p = make(page, len(list))
	for i, text := range list {
		if json.Unmarshal(text, &(*p)[i]) != nil {
			(*p)[i] = listedSkill{} // without a URI, so newSkill refuses it alone
		}
	}
	return nil
}

type getParams struct {
	mcp.ParamsBase
	URI string `json:"uri"`
}

type getResult struct {
	mcp.ResultBase
	Skill listedSkill `json:"skill"`
}

// listedSkill is a skill as a server describes it.
type listedSkill struct {
	URI         string          `json:"uri"`
	Frontmatter json.RawMessage `json:"frontmatter"`
	Resources   json.RawMessage `json:"resources"` // files, or "dynamic"
}

type resource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   *int64 `json:"size"`
}
