package docker

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/executor"
)

// Report says what an executor runs on.
type Report struct {
	// Engine and Version name the engine, such as Docker 20.10.24.
	Engine, Version string
	// Tier is the isolation of commands in a container: namespaces, landlock or runtime.
	Tier string
	// Why says in one line why a stronger tier does not work, or "".
	Why string
	// Shell is bash, or sh if the image has no bash.
	Shell string
	// Limits are what commands are held to.
	Limits []Limit
}

// Limit is one limit of a Report.
type Limit struct {
	Name string
	// Value is the limit of a command without limits of its own, or of its container.
	Value string
	// By says who holds the limit.
	By string
}

// limitsOf returns the limits of a command with the default limits.
func (c *carrier) limitsOf(caps executor.Capabilities) []Limit {
	l := executor.Limits{}.OrDefaults()
	r := c.spec("", l).resources()
	held := func(capability executor.Capability) string {
		if capability.Enforced {
			return "sandbox: " + capability.Note
		}
		return "no one: " + capability.Note
	}
	engine := "engine"
	if c.engine.lacksLimits {
		engine = "no one: without root there are no control groups of version 1"
	}
	processes := Limit{"processes", strconv.Itoa(l.Processes), held(caps.Processes)}
	if !caps.Processes.Enforced {
		processes = Limit{"processes", number(r.PidsLimit), engine + ": all commands of a workspace together"}
	}
	list := []Limit{
		{"timeout", l.Timeout.String(), "host and sandbox"},
		{"memory", strconv.FormatInt(l.Memory, 10), held(caps.Memory)},
		{"memory of the container", strconv.FormatInt(r.Memory, 10), engine},
		{"cpu", l.CPU.String(), held(caps.CPU)},
		processes,
		{"file", strconv.FormatInt(l.FileBytes, 10), held(caps.FileBytes)},
		{"disk", strconv.FormatInt(l.Disk, 10), "sandbox: the workspace is measured"},
		{"output", strconv.FormatInt(l.OutputTotal, 10), "sandbox"},
	}
	if c.cpus > 0 {
		list = append(list, Limit{"processors of the container", fmt.Sprint(c.cpus), engine})
	}
	return list
}

func number(n *int64) string {
	if n == nil {
		return "none"
	}
	return strconv.FormatInt(*n, 10)
}

// whyNot returns one line about the tiers that do not work.
func whyNot(refused []string) string { return strings.Join(refused, "; ") }
