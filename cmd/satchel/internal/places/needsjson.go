package places

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/needs"
)

// NeedsJSON is the field "needs" of a skill; the names of its fields are stable. Met is null if it is not
// known.
type NeedsJSON struct {
	Bins       []OneNeed `json:"bins"`
	AnyBins    []AnyNeed `json:"anyBins"`
	Env        []OneNeed `json:"env"`
	Config     []OneNeed `json:"config"`
	OS         AnyNeed   `json:"os"`
	MCP        []OneNeed `json:"mcp"`
	Tools      []OneNeed `json:"tools"`
	Secrets    []OneNeed `json:"secrets"`
	PrimaryEnv string    `json:"primaryEnv"`
	Always     bool      `json:"always"`
}

// OneNeed is a need of one name.
type OneNeed struct {
	Name string `json:"name"`
	Met  *bool  `json:"met"`
	// Optional reports that the skill works without it.
	Optional bool `json:"optional,omitempty"`
}

// AnyNeed is a need of one of several names.
type AnyNeed struct {
	Names []string `json:"names"`
	Met   *bool    `json:"met"`
}

// JSON returns all needs of a skill, met ones included. Its lists are empty and not nil.
func (n *NeedChecker) JSON(ctx context.Context, skill core.Skill) *NeedsJSON {
	j := &NeedsJSON{
		Bins: []OneNeed{}, AnyBins: []AnyNeed{}, Env: []OneNeed{}, Config: []OneNeed{}, OS: AnyNeed{Names: []string{}},
		MCP: []OneNeed{}, Tools: []OneNeed{}, Secrets: []OneNeed{},
	}
	declared := skill.Needs
	if declared == nil {
		return j
	}
	j.PrimaryEnv, j.Always = declared.PrimaryEnv, declared.Always
	variables := map[string]*bool{}
	for _, need := range n.Of(ctx, skill) {
		met := met(need.Verdict)
		one := OneNeed{need.Names[0], met, need.IsOptional}
		switch need.Kind {
		case needs.Bin:
			j.Bins = append(j.Bins, one)
		case needs.AnyBin:
			j.AnyBins = append(j.AnyBins, AnyNeed{need.Names, met})
		case needs.Env:
			j.Env, variables[one.Name] = append(j.Env, one), met
		case needs.Secret:
			variables[one.Name] = met
		case needs.MCP:
			j.MCP = append(j.MCP, one)
		case needs.Tool:
			j.Tools = append(j.Tools, one)
		case needs.OS:
			j.OS = AnyNeed{slices.Clone(need.Names), met}
		case needs.Config:
			j.Config = append(j.Config, one)
		}
	}
	for _, name := range declared.Secrets {
		j.Secrets = append(j.Secrets, OneNeed{Name: name, Met: variables[name]})
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
