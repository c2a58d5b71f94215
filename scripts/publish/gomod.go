package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// goMod is what is needed of the go.mod that `go mod edit -json` describes.
type goMod struct {
	Module  struct{ Path string }
	Require []struct{ Path string }
	Replace []struct{ Old struct{ Path string } }
}

func readMod(file string) (*goMod, error) {
	text, err := output("mod", "edit", "-json", file)
	if err != nil {
		return nil, err
	}
	var mod goMod
	if err := json.Unmarshal(text, &mod); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return &mod, nil
}

// local are the modules that are run in a checkout only. They may replace the
// modules that they use; in a module that is installed or imported, `go install`
// refuses a replacement.
var local = []string{"benchmark/", "benchmark/scale/", "examples/"}

// released returns the text of a go.mod that requires the other modules at the
// version of the release and replaces none.
func released(file, version string, all []*module) ([]byte, error) {
	mod, err := readMod(file)
	if err != nil {
		return nil, err
	}
	if dir, _ := filepath.Split(file); len(mod.Replace) > 0 && !slices.Contains(local, dir) {
		return nil, fmt.Errorf("%s has a replace, so `go install` would refuse the module", file)
	}
	args := []string{"mod", "edit"}
	for _, m := range all {
		for _, r := range mod.Require {
			if r.Path == m.path {
				args = append(args, "-require="+m.path+"@"+version)
			}
		}
		for _, r := range mod.Replace {
			if r.Old.Path == m.path {
				args = append(args, "-dropreplace="+m.path)
			}
		}
	}
	if len(args) == 2 {
		return os.ReadFile(file)
	}
	return output(append(args, "-print", file)...)
}

func output(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...) //nolint:gosec // the arguments are ours
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %v: %w", args, err)
	}
	return text, nil
}
