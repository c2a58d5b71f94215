package seccomp_test

import (
	"fmt"

	"golang.org/x/net/bpf"

	"github.com/satchel-go/satchel/internal/linux/seccomp"
)

func ExampleAssemble() {
	code, err := seccomp.Assemble(seccomp.Policy{Namespaces: true}, seccomp.AMD64)
	if err != nil {
		fmt.Println(err)
		return
	}
	instructions, _ := bpf.Disassemble(code)
	fmt.Println(instructions[0])                   // loads the architecture
	fmt.Println(instructions[len(instructions)-1]) // kills the process if the architecture is another
	// Output:
	// ld [4]
	// ret #2147483648
}

func ExampleFilter() {
	raw, err := seccomp.Filter(seccomp.Policy{Namespaces: true})
	if err != nil {
		fmt.Println(err) // this architecture has no table: do not run the program
		return
	}
	fmt.Println(len(raw)%8 == 0)
	// Output: true
}
