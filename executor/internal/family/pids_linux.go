package family

import (
	"bytes"
	"os"
	"strconv"
)

// Descendants returns a process and all that descend from it. A process whose parent has ended gets
// another parent, so Descendants can miss some. It misses none for the first process of a process
// namespace, which adopts them.
func Descendants(first int) []int {
	children := map[int][]int{}
	for _, pid := range everyPID() {
		if parent := ParentOf(pid); parent > 0 {
			children[parent] = append(children[parent], pid)
		}
	}
	all := []int{first}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
		delete(children, all[i]) // so that a reused number cannot lead to an endless loop
	}
	return all
}

// everyPID returns the numbers of all processes.
func everyPID() []int { return NumbersIn("/proc") }

// NumbersIn returns the names in a directory that are numbers.
func NumbersIn(dir string) []int {
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

// ParentOf returns the parent of a process, or 0 if the process has ended.
func ParentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The program's name, in parentheses, can contain anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}
