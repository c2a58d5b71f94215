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

// reach is what the commands of a runner see and reach.
type reach struct {
	capabilities executor.Capabilities
	visible      []string // directories of the host, shown on purpose
	network      bool     // some skills have a way to it
}

// reachOf leaves out the packages that skills require, which are found without
// their paths.
func reachOf(r *Runner) (c reach) {
	if r.Executor == nil {
		return c
	}
	c.capabilities = r.Executor.Capabilities()
	c.network = r.Egress != nil && c.capabilities.Loopback.Enforced
	c.visible = slices.DeleteFunc(slices.Clone(c.capabilities.Readable), func(dir string) bool {
		return dir == r.Dependencies
	})
	return c
}

// held says what the executor does not give commands, for the description of
// skill_run: a model that does not know this waits for downloads that never come.
func (c reach) held() string {
	if c.capabilities.Unavailable != "" {
		return " " + cannotRun
	}
	var text string
	switch {
	case !c.capabilities.Network.Enforced:
	case c.network:
		text += " There is no network but a proxy, which the environment names: by HTTP and HTTPS it leads a skill to those hosts of its metadata that it was granted. Such a command runs alone."
	default:
		text += " There is no network: nothing can be downloaded or installed from it."
	}
	if !c.capabilities.Filesystem.Enforced {
		return text
	}
	text += " Commands see the workspace and the system's programs"
	if len(c.visible) > maxVisible {
		text += fmt.Sprintf(", %s and %d more directories", strings.Join(c.visible[:maxVisible], ", "), len(c.visible)-maxVisible)
	} else if len(c.visible) > 0 {
		text += ", and " + strings.Join(c.visible, ", ")
	}
	return text + "; no other files of the machine."
}

// heldToo is held for skill_exec.
func (c reach) heldToo() string {
	if c.capabilities.Network.Enforced && c.capabilities.Unavailable == "" && !c.network {
		return ", without network too"
	}
	return ""
}

// cannotRun is the text for the model if no command can run. What to change is
// the host's business, and stands in its log.
const cannotRun = "Commands cannot run on this machine: do without them what can be done, and tell the user what cannot."

// check refuses a command if none can run.
func (c reach) check() error {
	if c.capabilities.Unavailable != "" {
		return tools.ModelErrorf("%s", cannotRun)
	}
	return nil
}
