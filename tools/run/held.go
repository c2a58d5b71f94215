package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/tools"
)

// maxVisible bounds how many directories of the host a description names.
const maxVisible = 8

// held says what the executor does not give commands, for the description of
// skill_run: a model that does not know this waits for downloads that never come.
func (r *Runner) held() string {
	c := r.capabilities()
	if c.Unavailable != "" {
		return " " + cannotRun
	}
	var text string
	switch {
	case !c.Network.Enforced:
	case r.reaches(c):
		text += " There is no network but a proxy, which the environment names: by HTTP and HTTPS it leads a skill to those hosts of its metadata that it was granted. Such a command runs alone."
	default:
		text += " There is no network: nothing can be downloaded or installed from it."
	}
	if !c.Filesystem.Enforced {
		return text
	}
	text += " Commands see the workspace and the system's programs"
	if visible := r.visible(c); len(visible) > maxVisible {
		text += fmt.Sprintf(", %s and %d more directories", strings.Join(visible[:maxVisible], ", "), len(visible)-maxVisible)
	} else if len(visible) > 0 {
		text += ", and " + strings.Join(visible, ", ")
	}
	return text + "; no other files of the machine."
}

// heldToo is held for skill_exec.
func (r *Runner) heldToo() string {
	if c := r.capabilities(); c.Network.Enforced && c.Unavailable == "" && !r.reaches(c) {
		return ", without network too"
	}
	return ""
}

// reaches reports whether the commands of some skills can get access to the
// network.
func (r *Runner) reaches(c executor.Capabilities) bool {
	return r.Egress != nil && c.Loopback.Enforced
}

func (r *Runner) capabilities() executor.Capabilities {
	if r.Executor == nil {
		return executor.Capabilities{}
	}
	return r.Executor.Capabilities()
}

// visible returns the directories of the host that commands are shown on purpose.
// It leaves out the packages that skills require, which are found without their
// paths.
func (r *Runner) visible(c executor.Capabilities) []string {
	return slices.DeleteFunc(slices.Clone(c.Readable), func(dir string) bool {
		return r.Dependencies != nil && dir == r.Dependencies.Dir()
	})
}

// cannotRun is the text for the model if no command can run. What to change is
// the host's business, and stands in its log.
const cannotRun = "Commands cannot run on this machine: do without them what can be done, and tell the user what cannot."

// checkRuns refuses a command if none can run.
func (r *Runner) checkRuns() error {
	if r.capabilities().Unavailable != "" {
		return tools.ModelErrorf("%s", cannotRun)
	}
	return nil
}
