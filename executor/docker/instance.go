package docker

import (
	"crypto/rand"
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

// The beginnings of the names of files that a process makes. The instance follows.
const (
	pointPrefix   = ".satchel-mount-"  // of mounts beside workspaces
	profilePrefix = "satchel-seccomp-" // of Podman's profiles, in the directory for temporary files
	trialPrefix   = "satchel-docker-"  // of the directories of trials, there too
)

// fileName returns a new name that says which process has made the file.
func (i instance) fileName(prefix string) string {
	_, space := cutLast(i.host, "-")
	return fmt.Sprintf("%s%s-%d-%d-%s", prefix, space, i.pid, i.start, strings.ToLower(rand.Text()))
}

// parseFileName returns the process that has made a file with this name, since the machine was
// started.
func parseFileName(prefix, name string, self instance) (instance, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	parts := strings.Split(rest, "-")
	if !ok || len(parts) != 4 {
		return instance{}, false
	}
	boot, _ := cutLast(self.host, "-")
	return parseInstance(boot + "-" + strings.Join(parts[:3], ":"))
}

// cutLast cuts a text at the last separator.
func cutLast(text, sep string) (before, after string) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):]
	}
	return "", text
}

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
