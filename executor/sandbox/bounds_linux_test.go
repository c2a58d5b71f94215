//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
)

// TestTempIsBounded fills /tmp and /dev/shm with bytes, and with files.
func TestTempIsBounded(t *testing.T) {
	s := newSandbox(t, sandbox.WithTemp(8<<20))
	result := sandboxed(t, s, python(t.TempDir(), `
import os
for at in ('/tmp', '/dev/shm'):
    done = 0
    try:
        with open(at + '/big', 'wb', 0) as f:
            while True: done += f.write(bytes(1 << 20))
    except OSError as e: print(at, done, e.errno == 28)
    os.unlink(at + '/big')
    done = 0
    try:
        while done < 100000:
            os.mkdir(at + '/%d' % done)
            done += 1
    except OSError as e: print(at, done < 20000, e.errno == 28)
for at in ('/', '/dev', '/etc', '/run', '/var', '/usr', '/skills', '/proc', '/dev/pts'):
    try: open(at + '/file', 'w'); print('OPEN', at)
    except OSError: pass
`))
	if got, want := result.Stdout.String(), "/tmp 8388608 True\n/tmp True True\n/dev/shm 8388608 True\n/dev/shm True True\n"; got != want {
		t.Errorf("stdout %q, want %q; stderr %s", got, want, result.Stderr)
	}
}

// TestLimitsInside reads the limits that no field of Limits sets, and tries to
// raise each.
func TestLimitsInside(t *testing.T) {
	result := sandboxed(t, newSandbox(t), python(t.TempDir(), `
import resource as r
for name, most in {'CORE': 1, 'MEMLOCK': 64 << 10, 'MSGQUEUE': 64 << 10, 'NOFILE': 4096, 'SIGPENDING': 4096, 'NPROC': 300, 'FSIZE': 256 << 20}.items():
    limit = getattr(r, 'RLIMIT_' + name)
    soft, hard = r.getrlimit(limit)
    if soft > most or hard > most or soft < 0: print(name, soft, hard)
    try: r.setrlimit(limit, (hard, hard + 1)); print('raised', name)
    except (ValueError, OSError): pass
import ctypes
c, instances = ctypes.CDLL(None), 0
while c.inotify_init() >= 0: instances += 1
if instances != 32: print(instances, 'inotify instances')
`))
	if result.ExitCode != 0 || result.Stdout.String() != "" {
		t.Errorf("%s%s", result.Stdout, result.Stderr)
	}
}

// TestSecretsOfACommand checks that the first process of a sandbox does not show the arguments or
// variables of the program to the host.
func TestSecretsOfACommand(t *testing.T) {
	const secret = "swordfish-5821"
	s, dir := newSandbox(t), t.TempDir()
	cmd := script(dir, "exec sleep 300")
	cmd.Env = append(cmd.Env, "TOKEN="+secret)
	p, err := s.Start(t.Context(), cmd, executor.Terminal{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { p.Kill(); <-p.Done() }()
	await(t, "one first process, and one program with the secret", func() bool {
		firsts, programs := 0, 0
		for pid := range descendantsOf(t, os.Getpid()) {
			at := "/proc/" + strconv.Itoa(pid)
			command, _ := os.ReadFile(at + "/cmdline")
			environ, _ := os.ReadFile(at + "/environ")
			has := bytes.Contains(command, []byte(secret)) || bytes.Contains(environ, []byte(secret))
			if bytes.HasPrefix(command, []byte("satchel-sandbox")) {
				firsts++
				if has || len(environ) > 0 {
					t.Errorf("the first process tells %q, %q", command, environ)
				}
			} else if has {
				programs++
			}
		}
		return firsts == 1 && programs == 1
	})
}

// noNamespacesAt makes a copy of this program that cannot have namespaces.
const noNamespacesAt = "SATCHEL_TEST_NO_NAMESPACES"

// TestNamespacesForbidden runs in a user namespace that allows no other namespaces, as an ordinary
// user, and as root. For root Landlock alone is not enough.
func TestNamespacesForbidden(t *testing.T) {
	if os.Getenv(noNamespacesAt) != "" {
		withoutNamespaces(t)
		return
	}
	users := []int{1234}
	if os.Getuid() == 0 {
		users = append(users, 0)
	}
	for _, inside := range users {
		cmd := exec.Command("/proc/self/exe", "-test.run", "^TestNamespacesForbidden$", "-test.v")
		cmd.Env = append(os.Environ(), noNamespacesAt+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: inside, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: inside, HostID: os.Getgid(), Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE},
		}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "PASS: TestNamespacesForbidden") {
			t.Errorf("as user %d: %v: %s", inside, err, out)
		}
	}
}

func withoutNamespaces(t *testing.T) {
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		_, err := sandbox.Open(t.Context())
		if !errors.Is(err, sandbox.ErrUnavailable) || strings.Contains(err.Error(), "\n") || !strings.HasSuffix(err.Error(), "runs commands without isolation") {
			t.Errorf("as root: %v", err)
		}
		return
	}
	_, err := sandbox.Open(t.Context(), sandbox.WithLeast(executor.IsolationNamespaces))
	if !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "max_user_namespaces") {
		t.Errorf("with namespaces at least: %v", err)
	}
	s := newSandbox(t)
	c := s.Capabilities()
	if c.Isolation != executor.IsolationLandlock || len(c.Advice) == 0 {
		t.Errorf("isolation %q, advice %q", c.Isolation, c.Advice)
	}
	outside := filepath.Join(t.TempDir(), "canary")
	if err := os.WriteFile(outside, []byte("sings"), 0o644); err != nil {
		t.Fatal(err)
	}
	result := sandboxed(t, s, script(t.TempDir(), "cat "+outside+"; exit 3"))
	if result.ExitCode != 3 || result.Stdout.String() != "" {
		t.Errorf("%+v", result)
	}
}
