package chat

import (
	"context"

	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
	skillrun "github.com/satchel-go/satchel/tools/run"
)

// egress returns the network of a skill that asks for it, or nil if the flags allow nothing.
func (f *RunFlags) egress() (func(context.Context, core.Skill) skillrun.Network, error) {
	policy, err := places.NetworkPolicy(f.Allow, f.Private)
	if err != nil {
		return nil, err
	}
	if len(policy.Rules) == 0 {
		return nil, nil
	}
	return func(context.Context, core.Skill) skillrun.Network { return skillrun.Network{Policy: policy} }, nil
}
