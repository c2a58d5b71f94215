//go:build amd64 || arm64

package reexec

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNotCalled starts this program with all conditions for the hook but one. It must run as usual.
func TestNotCalled(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), ""), os.NewFile(uintptr(pair[1]), "")
	defer ours.Close()
	defer theirs.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, c := range map[string]struct {
		arg0 string
		file *os.File
	}{
		"other name": {"satchel", theirs}, "longer name": {Name + "x", theirs}, "no socket": {Name, null}, "nothing": {Name, nil},
	} {
		cmd := exec.Command("/proc/self/exe", "-test.list", "TestNotCalled")
		cmd.Args[0] = c.arg0
		if c.file != nil {
			cmd.ExtraFiles = []*os.File{c.file}
		}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "TestNotCalled") {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// TestFailsClosed sends the first process messages that are not plans, and a plan that fails. It must
// report the error and start no program.
func TestFailsClosed(t *testing.T) {
	for name, c := range map[string]struct {
		send []byte
		want string
	}{
		"nothing":   {nil, ""},
		"no plan":   {[]byte{3, 0, 0, 0, 1, 2, 3}, "Fread plan"},
		"too large": {[]byte{0, 0, 0, 255}, "Fread control"},
		"no rights": {plan.Encode(), "Fset host name"},
		"no job":    {append((&Plan{}).Encode(), 1, 0, 0, 0, 9), "R"},
	} {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := os.NewFile(uintptr(pair[0]), ""), os.NewFile(uintptr(pair[1]), "")
		cmd := exec.Command("/proc/self/exe")
		cmd.Args[0], cmd.ExtraFiles = Name, []*os.File{theirs}
		cmd.SysProcAttr = ordinary()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		if _, err := ours.Write(c.send); err != nil {
			t.Fatal(err)
		}
		if err := unix.Shutdown(pair[0], unix.SHUT_WR); err != nil {
			t.Fatal(err)
		}
		var got [256]byte
		n, _ := ours.Read(got[:])
		text := ""
		if n > 4 {
			text = string(got[4:n])
		}
		if !strings.HasPrefix(text, c.want) || c.want == "" && text != "" {
			t.Errorf("%s: it said %q, want %q", name, text, c.want)
		}
		err = cmd.Wait()
		if failed := strings.HasPrefix(c.want, "F"); failed != (cmd.ProcessState.ExitCode() == exitFailed) && name != "no job" {
			t.Errorf("%s: it ended with %v", name, err)
		}
		ours.Close()
	}
}
