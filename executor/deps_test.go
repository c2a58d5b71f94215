package executor_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestContractIsLight checks that a program that imports this package compiles none of its
// implementations: neither the sandbox's start hook nor code for a kernel.
func TestContractIsLight(t *testing.T) {
	const module = "github.com/satchel-go/satchel"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"/executor").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 10 || packages[len(packages)-1] != module+"/executor" {
		t.Fatalf("go list says %q", packages)
	}
	for _, name := range packages[:len(packages)-1] {
		if first, _, _ := strings.Cut(name, "/"); strings.Contains(first, ".") {
			t.Errorf("executor imports %s", name)
		}
	}
}
