package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// maxPackages is how many packages go install compiles for the command. It only goes down;
// it may not exceed 680.
const maxPackages = 680

func TestCommandCompilesFewPackages(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-tags=", "-deps", ".")
	list.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=1", "GOFLAGS=")
	var errs bytes.Buffer
	list.Stderr = &errs
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	switch n := strings.Count(string(out), "\n"); {
	case n > maxPackages:
		t.Errorf("the command compiles %d packages, and may compile %d. Compare go list -deps with the commit before. "+
			"Put what few people need behind the build tag cloud, as buckets_none.go does, or merge small internal packages.", n, maxPackages)
	case n < maxPackages:
		t.Logf("the command compiles %d packages: maxPackages can be that", n)
	}
}
