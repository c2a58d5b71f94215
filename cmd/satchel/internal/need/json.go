package need

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/needs"
)

// JSON is the field "needs" of a skill; the names of its fields are stable. Met is null if it is not
// known.
type JSON struct {
	Bins       []One  `json:"bins"`
	AnyBins    []Some `json:"anyBins"`
	Env        []One  `json:"env"`
	Config     []One  `json:"config"`
	OS         Some   `json:"os"`
	MCP        []One  `json:"mcp"`
	Tools      []One  `json:"tools"`
	Secrets    []One  `json:"secrets"`
	PrimaryEnv string `json:"primaryEnv"`
	Always     bool   `json:"always"`
}

// One is a need of one name.
type One struct {
	Name string `json:"name"`
	Met  *bool  `json:"met"`
}

// Some is a need of one of several names.
type Some struct {
	Names []string `json:"names"`
	Met   *bool    `json:"met"`
}

// JSON returns all needs of a skill, met ones included. Its lists are empty and not nil.
func (n *Checker) JSON(ctx context.Context, skill core.Skill) *JSON {
	j := &JSON{
		Bins: []One{}, AnyBins: []Some{}, Env: []One{}, Config: []One{}, OS: Some{Names: []string{}},
		MCP: []One{}, Tools: []One{}, Secrets: []One{},
	}
	declared := skill.Needs
	if declared == nil {
		return j
	}
	j.PrimaryEnv, j.Always = declared.PrimaryEnv, declared.Always
	variables := map[string]*bool{}
	for _, need := range n.Of(ctx, skill) {
		met := met(need.Verdict)
		one := One{need.Names[0], met}
		switch need.Kind {
		case needs.Bin:
			j.Bins = append(j.Bins, one)
		case needs.AnyBin:
			j.AnyBins = append(j.AnyBins, Some{need.Names, met})
		case needs.Env:
			j.Env, variables[one.Name] = append(j.Env, one), met
		case needs.Secret:
			variables[one.Name] = met
		case needs.MCP:
			j.MCP = append(j.MCP, one)
		case needs.Tool:
			j.Tools = append(j.Tools, one)
		case needs.OS:
			j.OS = Some{slices.Clone(need.Names), met}
		case needs.Config:
			j.Config = append(j.Config, one)
		}
	}
	for _, name := range declared.Secrets {
		j.Secrets = append(j.Secrets, One{name, variables[name]})
	}
	return j
}

func met(v needs.Verdict) *bool {
	if v == needs.Unknown {
		return nil
	}
	is := v == needs.Met
	return &is
}
