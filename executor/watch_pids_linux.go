package executor

import (
	"bytes"
	"os"
	"slices"
	"strconv"
)

// pids returns the numbers of the processes that descend from the program, and
// its own.
func (c *process) pids() []int {
	all := slices.Sorted(c.family())
	return append([]int{c.proc.Pid}, slices.Compact(all)...)
}

// descendants returns the number of a process and those of what it started, as
// long as a child keeps its parent: where the process is the first of a
// namespace that is always.
func descendants(first int) []int {
	children := map[int][]int{}
	for _, pid := range everyPid() {
		if parent := parentOf(pid); parent > 0 {
			children[parent] = append(children[parent], pid)
		}
	}
	all := []int{first}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
		delete(children, all[i]) // numbers that were used again cannot make a circle
	}
	return all
}

func everyPid() []int { return numbersIn("/proc") }

// numbersIn returns the names in a directory that are numbers.
func numbersIn(dir string) []int {
	file, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	names, _ := file.Readdirnames(-1)
	var all []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			all = append(all, n)
		}
	}
	return all
}

func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name of the program, in parentheses, can hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}
