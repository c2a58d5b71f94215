package judging

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// unprivilegedUser is the user id of the shells if the tests run as root.
const unprivilegedUser = 61234

// runs are the programs in a shell's PATH that a list allows. Each has a condition on its
// number of words, the first of them, and the variables X and Y.
var runs = map[string]func(words, first, xy string) bool{
	"echo": func(_, _, _ string) bool { return true },
	"cat":  func(_, _, _ string) bool { return true },
	"git":  func(_, first, _ string) bool { return first == "a" },
	"only": func(words, _, _ string) bool { return words == "0" },
	"npm":  func(_, _, xy string) bool { return xy == "1." },
	// A POSIX shell takes [[ for a command; only busybox provides one, as an alias of test.
	"[[": func(_, _, _ string) bool { return true },
}

// strangers are names that odd texts could run; others would not be found.
var strangers = strings.Fields(`evil 0 1 2 5 12 x y E F E) EF E-F a b i f - -evil 1evil 1-evil -1 10 -- evil) time function select coproc [ ]] ]
	(( )) ( ) { } ! !evil if then else fi for in do done case esac while until true test # x=y X=1 a-b 9999999999 * ? ~ . : a[1] w ; & | || && &> < >`)

// shellRoom is a directory in which shells run texts. Each shell runs in a process namespace of
// its own, as a user who owns no other files. The programs on its PATH only record that they were
// started.
type shellRoom struct {
	dir, here, log string
	shells         [][]string
}

func newShellRoom(tb testing.TB) *shellRoom {
	tb.Helper()
	dir, err := os.MkdirTemp("", "shells")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &shellRoom{dir: dir, here: filepath.Join(dir, "here"), log: filepath.Join(dir, "log")}
	bin := filepath.Join(dir, "bin")
	write := "#!/bin/sh\nfirst=other\ntest \"$1\" = a && first=a\necho \"${0##*/} $# $first $X.$Y\" >> '" + r.log + "'\n"
	errs := []error{os.Chmod(dir, 0o755), os.Mkdir(bin, 0o755), os.MkdirAll(filepath.Join(r.here, "w"), 0o755), os.WriteFile(r.log, nil, 0o666), os.Chmod(r.log, 0o666)}
	for name := range runs {
		errs = append(errs, os.WriteFile(filepath.Join(bin, name), []byte(write), 0o755))
	}
	for _, name := range strangers {
		if name != "." && name != "*" {
			errs = append(errs, os.WriteFile(filepath.Join(bin, name), []byte(write), 0o755))
		}
	}
	if os.Geteuid() == 0 {
		errs = append(errs, os.Chown(r.here, unprivilegedUser, unprivilegedUser), os.Chown(filepath.Join(r.here, "w"), unprivilegedUser, unprivilegedUser))
	}
	if err := errors.Join(errs...); err != nil {
		tb.Fatal(err)
	}
	for _, shell := range []string{"bash", "dash", "mksh", "yash", "ksh", "busybox"} {
		file, err := exec.LookPath(shell)
		switch {
		case err != nil:
		case shell == "busybox":
			r.shells = append(r.shells, []string{file, "sh"})
		case shell == "bash":
			r.shells = append(r.shells, []string{file, "--norc", "--noprofile"}, []string{file, "--posix", "--norc", "--noprofile"})
		default:
			r.shells = append(r.shells, []string{file})
		}
	}
	if len(r.shells) == 0 {
		tb.Fatal("there is no shell: install bash and dash")
	}
	if _, err := r.run(r.shells[0], "echo ok"); err != nil {
		tb.Skipf("no process namespace can be made here, and without one no random text is run: %v", err)
	}
	return r
}

// shellWrapper starts a shell with few resources, and waits until the test lets it end. When it
// ends, all processes that the shell has started end too.
const shellWrapper = `(ulimit -u 64) 2>/dev/null && ulimit -u 64 || ulimit -p 64
ulimit -t 3; ulimit -f 100
"$@" 9<&- &
exec 8>&-
wait $!
read x <&9`

// run lets a shell run a text, waits until all processes have ended, and returns the output.
func (r *shellRoom) run(shell []string, text string) (string, error) {
	alive, ending, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer alive.Close()
	gate, open, err := os.Pipe()
	if err != nil {
		return "", errors.Join(err, ending.Close())
	}
	var errs bytes.Buffer
	cmd := exec.Command("/bin/sh", slices.Concat([]string{"-c", shellWrapper, "sh"}, shell, []string{"-c", text})...)
	cmd.Env, cmd.Dir, cmd.Stderr = []string{"PATH=" + filepath.Join(r.dir, "bin"), "LC_ALL=C.UTF-8"}, r.here, &errs
	cmd.ExtraFiles = []*os.File{nil, nil, nil, nil, nil, ending, gate}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: unprivilegedUser, Gid: unprivilegedUser}
	} else {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: unprivilegedUser, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: unprivilegedUser, HostID: os.Getegid(), Size: 1}}
	}
	err = cmd.Start()
	_, _ = ending.Close(), gate.Close()
	if err != nil {
		return "", errors.Join(err, open.Close())
	}
	_ = alive.SetReadDeadline(time.Now().Add(time.Minute))
	_, _ = io.Copy(io.Discard, alive) // returns when no process of the text is left
	_ = open.Close()
	end := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer end.Stop()
	_ = cmd.Wait() // the exit code of the text does not matter
	return errs.String(), nil
}

// violations returns what a text has done that no list allows.
func (r *shellRoom) violations(tb testing.TB, said string) []string {
	var found []string
	log, err := os.ReadFile(r.log)
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		f := strings.Fields(line)
		if ok := runs[f[0]]; len(f) != 4 || ok == nil || !ok(f[1], f[2], f[3]) {
			found = append(found, "runs "+line)
		}
	}
	for line := range strings.Lines(said) {
		line = strings.ReplaceAll(line, "[[: ", "")
		if strings.Contains(line, ": not found") || strings.Contains(line, "command not found") || strings.Contains(line, "inaccessible or not found") || strings.Contains(line, "no such command") {
			found = append(found, "looks for "+line)
		}
	}
	files, err := os.ReadDir(r.here)
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range files {
		if f.Name() != "w" {
			found = append(found, "writes "+f.Name())
			_ = os.RemoveAll(filepath.Join(r.here, f.Name()))
		}
	}
	if len(log) > 0 {
		if err := os.Truncate(r.log, 0); err != nil {
			tb.Fatal(err)
		}
	}
	return found
}
