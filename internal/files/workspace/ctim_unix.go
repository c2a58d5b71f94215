//go:build dragonfly || linux || openbsd

package workspace

import "syscall"

func changeTime(st *syscall.Stat_t) *syscall.Timespec { return &st.Ctim }
