package docker

import (
	"slices"
	"strings"
)

// maskedByEngine are the paths that engines mask by default.
var maskedByEngine = []string{
	"/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
	"/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats",
	"/sys/devices/virtual/powercap", "/sys/firmware",
}

// maskedToo are paths that reveal something about the whole machine. The sandbox covers them where
// it has namespaces.
var maskedToo = []string{
	"/proc/bootconfig", "/proc/cmdline", "/proc/config.gz", "/proc/diskstats", "/proc/interrupts", "/proc/kallsyms",
	"/proc/key-users", "/proc/kmsg", "/proc/modules", "/proc/partitions", "/proc/pressure", "/proc/slabinfo",
	"/proc/swaps", "/proc/vmallocinfo",
}

// readonlyByEngine are the paths that engines make read-only by default.
var readonlyByEngine = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}

// maskedPaths returns the paths that the container has empty. For namespaces there are none: the
// kernel allows a new /proc only to those that see a whole one. Commands see the sandbox's.
func (s spec) maskedPaths() []string {
	if s.tier == namespacesTier || s.isPodman {
		return []string{}
	}
	return slices.Concat(maskedByEngine, maskedToo)
}

// readonlyPaths returns the paths that the container may not change.
func (s spec) readonlyPaths() []string {
	if s.tier == namespacesTier || s.isPodman {
		return []string{}
	}
	return readonlyByEngine
}

// securityOpt returns the options for the kernel's security. Podman has its own words for the paths.
func (s spec) securityOpt() []string {
	opts := []string{"no-new-privileges"}
	if s.profile != "" {
		opts = append(opts, "seccomp="+s.profile)
	}
	switch {
	case !s.isPodman:
	case s.tier == namespacesTier:
		opts = append(opts, "unmask=ALL", "mask=")
	default:
		opts = append(opts, "mask="+strings.Join(maskedToo, ":"))
	}
	return opts
}
