//go:build unix

package run_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// BenchmarkRunBeside measures like BenchmarkRun, on a machine with so many more
// processes, of which the command knows nothing. Where root measures they belong
// to another user, into whom even root cannot look quickly everywhere.
func BenchmarkRunBeside(b *testing.B) {
	for _, n := range []int{0, 500} {
		b.Run(fmt.Sprintf("processes=%d", n), func(b *testing.B) {
			idle(b, n)
			runCase{loaded: 1}.run(b)
		})
	}
}

// idle starts processes that sleep, until the benchmark ends.
func idle(b *testing.B, n int) {
	b.Helper()
	script := fmt.Sprintf("for ((i = 0; i < %d; i++)); do sleep 600 >/dev/null & done; echo up; wait", n)
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 12345, Gid: 12345}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		b.Fatal(line, err)
	}
}
