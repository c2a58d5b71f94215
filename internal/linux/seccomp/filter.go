package seccomp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/net/bpf"
)

// Policy says how the program is isolated. The zero value means not at all, and the filter then
// refuses most calls.
type Policy struct {
	// Namespaces says that the program has its own user, mount, process, network and IPC
	// namespaces. Its sockets, its shared memory and the processes that it can name then belong
	// to its sandbox. Without them the filter allows no socket but a connected pair, no System
	// V or POSIX IPC, and no change of the limits or the priority of another process. Signals
	// stay possible, because the filter cannot know which process an id means.
	Namespaces bool
}

// Arch is an architecture by Go's name for it.
type Arch string

// The architectures with a table of system calls.
const (
	AMD64 Arch = "amd64"
	ARM64 Arch = "arm64"
)

// Filter returns the program for the architecture of this build in the form of the kernel: an array
// of struct sock_filter, 8 bytes each, in native byte order. On an architecture without a table the
// error wraps errors.ErrUnsupported.
func Filter(p Policy) ([]byte, error) {
	code, err := Assemble(p, Arch(runtime.GOARCH))
	if err != nil {
		return nil, err
	}
	raw := make([]byte, 0, 8*len(code))
	for _, ins := range code {
		raw = binary.NativeEndian.AppendUint16(raw, ins.Op)
		raw = append(raw, ins.Jt, ins.Jf)
		raw = binary.NativeEndian.AppendUint32(raw, ins.K)
	}
	return raw, nil
}

// Assemble returns the program for any architecture that has a table. For others the error wraps
// errors.ErrUnsupported. The program for a policy and an architecture is always the same.
//
// The program searches for the number of a call in a balanced tree of jumps. It reads arguments only
// of calls whose verdict depends on them. The kernel caches the verdict for all other allowed calls,
// and does not run the filter again.
func Assemble(p Policy, arch Arch) ([]bpf.RawInstruction, error) {
	t, ok := tableOf(arch)
	if !ok {
		return nil, fmt.Errorf("no table of system calls for %s: %w", arch, errors.ErrUnsupported)
	}
	var prog program
	wrongArch := kill.write(&prog)
	search := writeSearch(&prog, spans(t.decisions(rules(p))))
	loadNumber := prog.step(bpf.LoadAbsolute{Off: offsetNumber, Size: 4}, search)
	checkArch := prog.branch(bpf.JumpEqual, t.audit, loadNumber, wrongArch)
	prog.step(bpf.LoadAbsolute{Off: offsetArch, Size: 4}, checkArch)
	return prog.assemble()
}

// decisions returns the decision for each number up to the highest of the table. Later rules win.
// Calls that no rule names fail with ENOSYS.
func (t table) decisions(rules []rule) []decision {
	numbers, highest := map[string]uint32{}, uint32(0)
	for _, list := range t.calls {
		for _, c := range list {
			numbers[c.name] = c.number
			highest = max(highest, c.number)
		}
	}
	all := make([]decision, highest+1)
	for i := range all {
		all[i] = enosys
	}
	for _, r := range rules {
		for name := range strings.FieldsSeq(r.calls) {
			if number, ok := numbers[name]; ok {
				all[number] = r.decision
			}
		}
	}
	return all
}

// span is a range of numbers with one decision. It ends before the first number of the next span.
type span struct {
	first    uint32
	decision decision
}

// spans merges neighbours with the same decision. The last span has all numbers above the table,
// with those of the x32 interface, which have bit 30 set.
func spans(decisions []decision) []span {
	var all []span
	for number, d := range append(decisions, enosys) {
		if len(all) == 0 || all[len(all)-1].decision != d {
			all = append(all, span{uint32(number), d})
		}
	}
	return all
}

// writeSearch writes the search for the span that contains the number in the register.
func writeSearch(p *program, all []span) label {
	if len(all) == 1 {
		return all[0].decision.write(p)
	}
	middle := len(all) / 2
	high := writeSearch(p, all[middle:])
	low := writeSearch(p, all[:middle])
	return p.branch(bpf.JumpGreaterOrEqual, all[middle].first, high, low)
}

// program is a BPF program, written from its end to its beginning. Classic BPF jumps forward only, so
// the target of a jump is written before the jump, and its distance is known.
type program struct {
	code    []bpf.Instruction // the last one first
	returns map[verdict]label // the nearest return of each verdict
}

// label identifies an instruction by the number of instructions from there to the end.
type label int

// skip returns how many instructions a jump before all others skips to get to a label.
func (p *program) skip(to label) int { return len(p.code) - int(to) }

// add writes an instruction before all others.
func (p *program) add(ins bpf.Instruction) label {
	p.code = append(p.code, ins)
	return label(len(p.code))
}

// ret returns the label of an instruction that returns v. It writes one only if none is in reach.
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

// step writes an instruction that is followed by the one at next.
func (p *program) step(ins bpf.Instruction, next label) label {
	p.near(next, 0)
	return p.add(ins)
}

// branch writes a conditional jump to yes or to no.
func (p *program) branch(cond bpf.JumpTest, value uint32, yes, no label) label {
	yes = p.near(yes, maxSkip-1) // one less: near(no) may write a jump in between
	no = p.near(no, maxSkip)
	return p.add(bpf.JumpIf{Cond: cond, Val: value, SkipTrue: uint8(p.skip(yes)), SkipFalse: uint8(p.skip(no))})
}

// near returns a label at most reach instructions away: to itself, or that of a jump to it.
func (p *program) near(to label, reach int) label {
	if p.skip(to) <= reach {
		return to
	}
	return p.add(bpf.Jump{Skip: uint32(p.skip(to))})
}

// assemble returns the program, first instruction first.
func (p *program) assemble() ([]bpf.RawInstruction, error) {
	code := slices.Clone(p.code)
	slices.Reverse(code)
	return bpf.Assemble(code)
}
