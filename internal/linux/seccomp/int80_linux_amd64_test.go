package seccomp

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// int80 makes a call through the 32-bit interface, as any program can: number 20
// is getpid there, and writev here.
func int80() {
	code := []byte{0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3} // mov $20, %eax; int $0x80; ret
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
	die("mmap", err)
	copy(page, code)
	entry := unsafe.Pointer(&page)
	(*(*func())(unsafe.Pointer(&entry)))()
	_, _ = os.Stdout.WriteString("survived")
}

func TestOtherArchitectureDies(t *testing.T) {
	out, err := inside(t, "none", "int80").Output()
	if err != nil {
		t.Skipf("this kernel has no 32-bit calls: %v", err)
	}
	if string(out) != "survived" {
		t.Fatalf("without a filter: %q", out)
	}
	for name := range policies {
		out, err := inside(t, name, "int80").Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatalf("%s: %v, %q", name, err, out)
		}
		if status := exit.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != unix.SIGSYS {
			t.Errorf("%s: %v, want %s", name, err, unix.SIGSYS)
		}
		if len(out) != 0 {
			t.Errorf("%s: went on after the call: %q", name, out)
		}
	}
}
