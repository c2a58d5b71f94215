package remote

import (
	"cmp"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/executor"
)

// fieldsOf returns the capabilities of c by which each is a claim.
func fieldsOf(c *executor.Capabilities) []*executor.Capability {
	return []*executor.Capability{
		&c.Filesystem, &c.Links, &c.Network, &c.HostProcesses, &c.Privileges, &c.SystemCalls, &c.Memory, &c.CPU,
		&c.Processes, &c.FileBytes, &c.Descriptors, &c.KillGroup, &c.KillTree, &c.DiesWithHost, &c.Terminal, &c.Pipes,
		&c.Loopback,
	}
}

// boundCapabilities cuts texts and lists that are too long.
func boundCapabilities(c executor.Capabilities) executor.Capabilities {
	for _, field := range fieldsOf(&c) {
		field.Note = line(field.Note)
	}
	c.Isolation = executor.Isolation(line(string(c.Isolation)))
	c.WorkspaceAt, c.SkillsAt, c.TempAt = line(c.WorkspaceAt), line(c.SkillsAt), line(c.TempAt)
	c.Unavailable = line(c.Unavailable)
	c.Readable, c.Advice = lines(c.Readable), lines(c.Advice)
	return c
}

// line returns a text of a runner as one bounded line.
func line(text string) string {
	return strings.ReplaceAll(printable(text[:min(len(text), maxNote)]), "\n", " ")
}

func lines(texts []string) (all []string) {
	for _, text := range texts[:min(len(texts), maxListed)] {
		all = append(all, line(text))
	}
	return all
}

// lower returns the upper bound of a carrier, lowered by what a runner says. The carrier alone decides
// whether commands die with the host, and whether they are in a container.
func lower(bound, said executor.Capabilities) executor.Capabilities {
	dies := bound.DiesWithHost
	of := fieldsOf(&said)
	for i, field := range fieldsOf(&bound) {
		if !field.Enforced {
			continue
		}
		*field = *of[i]
	}
	bound.DiesWithHost = dies
	if bound.Isolation != executor.IsolationContainer {
		bound.Isolation = weaker(bound.Isolation, said.Isolation)
	}
	bound.WorkspaceAt, bound.SkillsAt, bound.TempAt = said.WorkspaceAt, said.SkillsAt, said.TempAt
	bound.Unavailable = cmp.Or(bound.Unavailable, said.Unavailable)
	bound.Readable = slices.DeleteFunc(slices.Clone(bound.Readable), func(dir string) bool { return !slices.Contains(said.Readable, dir) })
	for _, advice := range said.Advice {
		if len(bound.Advice) < maxListed && !slices.Contains(bound.Advice, advice) {
			bound.Advice = append(slices.Clip(bound.Advice), advice)
		}
	}
	return bound
}

// weaker returns the weaker kind of isolation. An unknown kind counts as none.
func weaker(a, b executor.Isolation) executor.Isolation {
	order := []executor.Isolation{"", executor.IsolationLandlock, executor.IsolationContainer, executor.IsolationNamespaces}
	return order[max(0, min(slices.Index(order, a), slices.Index(order, b)))]
}
