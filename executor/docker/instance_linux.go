package docker

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// thisInstance returns the name of this process.
func thisInstance() (instance, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return instance{}, err
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return instance{}, err
	}
	pid := os.Getpid()
	start, err := startOf(pid)
	if err != nil {
		return instance{}, err
	}
	host := strings.TrimSpace(string(boot)) + "-" + strings.Trim(strings.TrimPrefix(space, "pid:"), "[]")
	return instance{host, pid, start}, nil
}

// isAlive reports whether a process with this start time runs. If the process is hidden, isAlive
// says that it does.
func isAlive(pid int, start uint64) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	now, err := startOf(pid)
	if errors.Is(err, os.ErrNotExist) {
		return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}
	return err != nil || now == start
}

// startOf returns when a process was started. A process that has ended and was not reaped has no
// start.
func startOf(pid int) (uint64, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	name := strings.LastIndexByte(string(stat), ')') // it can have any character
	fields := strings.Fields(string(stat[name+1:]))
	const state, start = 0, 19 // after the name
	if len(fields) <= start {
		return 0, fmt.Errorf("process %d: %q", pid, stat)
	}
	if fields[state] == "Z" || fields[state] == "X" {
		return 0, nil
	}
	return strconv.ParseUint(fields[start], 10, 64)
}
