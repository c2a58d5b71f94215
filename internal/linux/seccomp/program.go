package seccomp

import (
	"slices"

	"golang.org/x/net/bpf"
)

// maxSkip is how far a conditional jump of classic BPF reaches.
const maxSkip = 255

// program is written from its end to its beginning. Classic BPF jumps forward
// only, so the target of a jump is written before the jump, and its distance is
// known.
type program struct {
	code    []bpf.Instruction // the last one first
	returns map[verdict]label // the nearest return of each verdict
}

// label is an instruction of a program: the number of instructions from there
// to the end.
type label int

// skip returns how many instructions the next one would jump over to get to a
// label.
func (p *program) skip(to label) int { return len(p.code) - int(to) }

func (p *program) add(ins bpf.Instruction) label {
	p.code = append(p.code, ins)
	return label(len(p.code))
}

// ret returns the label of an instruction that returns v. Each verdict is written
// once, and again where the first one is out of reach.
func (p *program) ret(v verdict) label {
	if at, ok := p.returns[v]; ok && p.skip(at) <= maxSkip {
		return at
	}
	at := p.add(bpf.RetConstant{Val: uint32(v)})
	if p.returns == nil {
		p.returns = map[verdict]label{}
	}
	p.returns[v] = at
	return at
}

// step executes an instruction and goes on at next.
func (p *program) step(ins bpf.Instruction, next label) label {
	p.near(next, 0)
	return p.add(ins)
}

// branch goes on at yes or at no.
func (p *program) branch(cond bpf.JumpTest, value uint32, yes, no label) label {
	yes = p.near(yes, maxSkip-1) // one less, because a jump to no may come in between
	no = p.near(no, maxSkip)
	return p.add(bpf.JumpIf{Cond: cond, Val: value, SkipTrue: uint8(p.skip(yes)), SkipFalse: uint8(p.skip(no))})
}

// near returns a label at most reach instructions away that leads to the same
// place as to: to itself, or a jump to it.
func (p *program) near(to label, reach int) label {
	if p.skip(to) <= reach {
		return to
	}
	return p.add(bpf.Jump{Skip: uint32(p.skip(to))})
}

// assemble returns the program from its beginning.
func (p *program) assemble() ([]bpf.RawInstruction, error) {
	code := slices.Clone(p.code)
	slices.Reverse(code)
	return bpf.Assemble(code)
}
