package seccomp

import (
	"math/bits"
	"testing"

	"golang.org/x/net/bpf"
)

// The instructions of classic BPF that the filter uses. The kernel can predict
// what they do with the number of a call, so that it need not run them.
const (
	opLoad    = 0x20
	opAnd     = 0x54
	opReturn  = 0x06
	opJump    = 0x05
	opEqual   = 0x15
	opAtLeast = 0x35
)

// path executes a program. It returns the verdict, which words the program read
// and how many instructions it took.
func path(t testing.TB, code []bpf.RawInstruction, w [16]uint32) (v verdict, read []uint32, steps int) {
	t.Helper()
	a := uint32(0)
	for pc := 0; pc < len(code); pc++ {
		steps++
		switch ins := code[pc]; ins.Op {
		case opLoad:
			if ins.K%4 != 0 || ins.K >= 64 {
				t.Fatalf("instruction %d reads at %d", pc, ins.K)
			}
			a = w[ins.K/4]
			read = append(read, ins.K)
		case opAnd:
			a &= ins.K
		case opReturn:
			return verdict(ins.K), read, steps
		case opJump:
			pc += int(ins.K)
		case opEqual, opAtLeast:
			yes := a == ins.K || ins.Op == opAtLeast && a > ins.K
			if yes {
				pc += int(ins.Jt)
			} else {
				pc += int(ins.Jf)
			}
		default:
			t.Fatalf("instruction %d: the kernel cannot reason about %#x", pc, ins.Op)
		}
	}
	t.Fatal("the program has no end")
	return 0, nil, 0
}

// TestPaths follows each number through the program: the kernel remembers only
// verdicts for which no argument was read, and the path must be short.
func TestPaths(t *testing.T) {
	eachFilter(t, func(t *testing.T, f filter) {
		if len(f.raw) > 4096 {
			t.Fatalf("%d instructions: the kernel takes 4096", len(f.raw))
		}
		decisions := f.table.decisions(rules(f.policy))
		// The program loads the architecture and the number, and compares the
		// first. Then come one comparison and at most one long jump for each
		// level of the tree, and the return.
		depth := bits.Len(uint(len(spans(decisions))))
		for number := range uint32(1024) {
			v, read, steps := path(t, f.raw, words(f.table.audit, number, nil))
			if want := f.decide(t, f.table.audit, number, nil); v != want {
				t.Fatalf("call %d: %s, but the emulated machine says %s", number, v, want)
			}
			if number < uint32(len(decisions)) {
				if _, ok := decisions[number].(*test); ok {
					continue
				}
			}
			if len(read) != 2 || read[0] != offsetArch || read[1] != offsetNumber {
				t.Errorf("call %d (%s) reads words at %v", number, f.call(number), read)
			}
			if most := 4 + 2*depth; steps > most {
				t.Errorf("call %d (%s) takes %d instructions, more than %d", number, f.call(number), steps, most)
			}
		}
	})
}

// TestLongJumps builds a search that is much longer than the reach of an 8-bit
// jump.
func TestLongJumps(t *testing.T) {
	for _, size := range []int{1, 2, 3, 100, 254, 255, 256, 257, 258, 300, 511, 512, 513, 700, 1500} {
		all := make([]span, size)
		for i := range all {
			// Each decision is a block of its own, so that no jump can share one.
			all[i] = span{uint32(3 * i), &test{arg: 1, mask: 0xff, values: []uint32{7, 9}, yes: errno | verdict(i), no: allow}}
		}
		var p program
		root := writeSearch(&p, all)
		p.step(bpf.LoadAbsolute{Off: offsetNumber, Size: 4}, root)
		code, err := p.assemble()
		if err != nil {
			t.Fatal(err)
		}
		decoded, _ := bpf.Disassemble(code)
		machine, err := bpf.NewVM(decoded)
		if err != nil {
			t.Fatalf("%d spans: %v", size, err)
		}
		f := filter{machine: machine}
		for number := range uint32(3 * size) {
			for arg, want := range map[uint64]verdict{
				7: errno | verdict(number/3), 0x109: errno | verdict(number/3), 8: allow, 7 << 32: allow,
			} {
				if got := f.decide(t, 0, number, args{0, arg}); got != want {
					t.Fatalf("%d spans, call %d, argument %#x: %s, want %s", size, number, arg, got, want)
				}
			}
		}
	}
}

// TestBranchAtTheEdge puts both targets at every distance around the longest
// jump.
func TestBranchAtTheEdge(t *testing.T) {
	const near, far = errno | 1, errno | 2
	for gap := 240; gap < 270; gap++ {
		for apart := range 4 {
			for _, swap := range []bool{false, true} {
				var p program
				filler := func(n int) {
					for range n {
						p.add(bpf.RetConstant{Val: uint32(kill)})
					}
				}
				yes := p.add(bpf.RetConstant{Val: uint32(far)})
				filler(apart)
				no := p.add(bpf.RetConstant{Val: uint32(near)})
				filler(gap)
				wantYes, wantNo := verdict(far), verdict(near)
				if swap {
					yes, no, wantYes, wantNo = no, yes, wantNo, wantYes
				}
				p.step(bpf.LoadAbsolute{Off: offsetNumber, Size: 4}, p.branch(bpf.JumpEqual, 5, yes, no))
				code, err := p.assemble()
				if err != nil {
					t.Fatal(err)
				}
				for number, want := range map[uint32]verdict{5: wantYes, 6: wantNo} {
					if got, _, _ := path(t, code, words(0, number, nil)); got != want {
						t.Errorf("gap %d, apart %d, swap %t, %d: %s, want %s", gap, apart, swap, number, got, want)
					}
				}
			}
		}
	}
}

func TestStepGoesOnFarAway(t *testing.T) {
	var p program
	target := p.ret(allow)
	for range 1000 {
		p.add(bpf.RetConstant{Val: uint32(kill)})
	}
	p.step(bpf.LoadAbsolute{Off: offsetNumber, Size: 4}, target)
	code, err := p.assemble()
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := path(t, code, words(0, 0, nil)); got != allow {
		t.Errorf("the step leads to %s, want %s", got, allow)
	}
}

func TestReturnsAreShared(t *testing.T) {
	var p program
	first := p.ret(allow)
	if again := p.ret(allow); again != first {
		t.Errorf("the same verdict is at %d and %d", first, again)
	}
	for range maxSkip + 1 {
		p.add(bpf.RetConstant{Val: uint32(kill)})
	}
	if far := p.ret(allow); far == first {
		t.Error("a verdict out of reach is not written again")
	}
}
