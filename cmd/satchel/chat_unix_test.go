//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/satchel-go/satchel/internal/wire"
)

// Ctrl-C ends the turn that runs and nothing else.
func TestChatInterrupt(t *testing.T) {
	each(t, func(t *testing.T, flags ...string) {
		script := func(r wire.Request) wire.Response {
			if r.Contains("slow") {
				// The turn listens for the signal: it has sent this request.
				if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
					t.Error(err)
				}
				<-r.Context().Done()
			}
			return wire.Text("fine")
		}
		got := converse(t, script, "", append(flags, "slow", "fast")...)
		if got.code != 1 || got.out != "fine\n" || !strings.Contains(got.err, "turn 1: cancelled") {
			t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
		}
	})
}
