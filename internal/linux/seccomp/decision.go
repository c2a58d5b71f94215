package seccomp

import "golang.org/x/net/bpf"

// decision is a verdict, or a test that leads to one. Decisions can be compared.
type decision interface {
	// write adds the decision to the program. Every verdict ends the program.
	write(p *program) label
}

// verdict is what the kernel does with a call: a SECCOMP_RET value.
type verdict uint32

const (
	allow        verdict = 0x7fff0000
	kill         verdict = 0x80000000 // the process, with SIGSYS
	errno        verdict = 0x00050000 // the call fails with the number in the low bits
	eperm                = errno | 1
	enosys               = errno | 38
	eopnotsupp           = errno | 95
	eafnosupport         = errno | 97
)

func (v verdict) write(p *program) label { return p.ret(v) }

// Offsets in struct seccomp_data of what a filter can read.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16 // 64 bits each
)

// word is the mask of an argument that the kernel reads as 32 bits.
const word = 0xffffffff

// test checks whether an argument, under a mask, is one of some values. It reads
// the low 32 bits unless high is set: the kernel reads hardly any tested argument
// beyond these, and a program can put anything into the high ones.
type test struct {
	arg     uint32
	high    bool // reads the high 32 bits
	mask    uint32
	values  []uint32
	yes, no decision
}

func (t *test) write(p *program) label {
	yes, next := t.yes.write(p), t.no.write(p)
	for _, value := range t.values {
		next = p.branch(bpf.JumpEqual, value, yes, next)
	}
	if t.mask != word {
		next = p.step(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: t.mask}, next)
	}
	// All architectures with a table are little endian: the low word comes first.
	off := offsetArgs + 8*t.arg
	if t.high {
		off += 4
	}
	return p.step(bpf.LoadAbsolute{Off: off, Size: 4}, next)
}
