package seccomp

import (
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/net/bpf"
)

var (
	arches   = []Arch{AMD64, ARM64}
	policies = map[string]Policy{"namespaces": {Namespaces: true}, "unconfined": {}}
)

// eachFilter runs a test for every policy on every architecture.
func eachFilter(t *testing.T, test func(t *testing.T, f filter)) {
	for name, p := range policies {
		for _, arch := range arches {
			t.Run(fmt.Sprintf("%s/%s", arch, name), func(t *testing.T) { test(t, assembled(t, p, arch)) })
		}
	}
}

// filter is an assembled program in an emulated machine.
type filter struct {
	name    string
	policy  Policy
	arch    Arch
	table   table
	raw     []bpf.RawInstruction
	machine *bpf.VM
	names   map[uint32]string
}

func assembled(t testing.TB, p Policy, arch Arch) filter {
	t.Helper()
	raw, err := Assemble(p, arch)
	if err != nil {
		t.Fatal(err)
	}
	code, all := bpf.Disassemble(raw)
	if !all {
		t.Fatal("the program holds unknown instructions")
	}
	machine, err := bpf.NewVM(code)
	if err != nil {
		t.Fatal(err)
	}
	table, _ := tableOf(arch)
	names := map[uint32]string{}
	for _, list := range table.calls {
		for _, c := range list {
			names[c.number] = c.name
		}
	}
	name := string(arch) + "-unconfined"
	if p.Namespaces {
		name = string(arch) + "-namespaces"
	}
	return filter{name, p, arch, table, raw, machine, names}
}

// args are up to six arguments of a call.
type args = []uint64

// words is struct seccomp_data as 32-bit words, in the order of a little-endian
// machine.
func words(audit, number uint32, a args) [16]uint32 {
	w := [16]uint32{number, audit, 0xdead, 0xbeef}
	for i, v := range a {
		w[4+2*i], w[5+2*i] = uint32(v), uint32(v>>32)
	}
	return w
}

// decide runs the program. The emulated machine reads words in network order,
// while the kernel reads its own byte order, so decide lays the words out in
// network order.
func (f filter) decide(t testing.TB, audit, number uint32, a args) verdict {
	t.Helper()
	data := make([]byte, 0, 64)
	for _, w := range words(audit, number, a) {
		data = binary.BigEndian.AppendUint32(data, w)
	}
	got, err := f.machine.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return verdict(got)
}

// number returns the number of a call; ok is false where there is none.
func (f filter) number(name string) (uint32, bool) {
	for _, list := range f.table.calls {
		for _, c := range list {
			if c.name == name {
				return c.number, true
			}
		}
	}
	return 0, false
}

// call returns the name of a number, "" where there is none.
func (f filter) call(number uint32) string { return f.names[number] }

func (v verdict) String() string {
	switch v {
	case allow:
		return "allow"
	case kill:
		return "KILL"
	case eperm:
		return "EPERM"
	case enosys:
		return "ENOSYS"
	case eopnotsupp:
		return "EOPNOTSUPP"
	case eafnosupport:
		return "EAFNOSUPPORT"
	}
	return fmt.Sprintf("%#x", uint32(v))
}
