package docker

import (
	"fmt"
	"strconv"
	"strings"
)

// instance names a process on one machine. Two users of an engine share no directory for locks, so
// each container has the name of the process that has started it.
type instance struct {
	host  string // the boot of the machine and the process namespace
	pid   int
	start uint64 // when the process was started, in ticks of the machine
}

// String returns the label of the instance.
func (i instance) String() string { return fmt.Sprintf("%s:%d:%d", i.host, i.pid, i.start) }

// pointPrefix is the beginning of the names of mounts. The instance follows.
const pointPrefix = ".satchel-mount-"

// parseInstance parses a label.
func parseInstance(label string) (i instance, ok bool) {
	parts := strings.Split(label, ":")
	if len(parts) != 3 || parts[0] == "" {
		return instance{}, false
	}
	pid, err := strconv.Atoi(parts[1])
	start, err2 := strconv.ParseUint(parts[2], 10, 64)
	if err != nil || err2 != nil || pid < 1 {
		return instance{}, false
	}
	return instance{parts[0], pid, start}, true
}

// isOver reports whether the process of a container is known to be gone. It is not known of those
// on other machines, before another boot, and in other process namespaces.
func (i instance) isOver(self instance) bool {
	return i.host == self.host && !isAlive(i.pid, i.start)
}
