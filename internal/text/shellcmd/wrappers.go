package shellcmd

import (
	"slices"
	"strings"
)

// wrappers are programs that run another program from their arguments or their input. It has no
// interpreters of other languages than the shell's: most skills need these.
var wrappers = []string{
	// shells and their builtins, some of which exist as programs too
	"ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "ksh93", "mksh", "nu", "oksh", "osh", "posh", "pwsh",
	"rbash", "rc", "sash", "sh", "tcsh", "xonsh", "yash", "zsh",
	".", "builtin", "command", "coproc", "eval", "exec", "source", "time", "trap",
	// many programs in one
	"busybox", "coreutils", "toybox",
	// run a program in another environment, at another time, or many times
	"at", "batch", "bwrap", "capsh", "chroot", "chrt", "chronic", "crontab", "cpulimit", "dbus-run-session", "doas",
	"entr", "env", "expect", "fakechroot", "fakeroot", "faketime", "firejail", "flock", "gosu", "ifne", "ionice",
	"linux32", "linux64", "ltrace", "gdb", "make", "nice", "nohup", "nsenter", "numactl", "parallel", "pkexec", "prlimit",
	"proot", "rlwrap", "run-parts", "runcon", "runuser", "schedtool", "screen", "script", "setarch", "setpriv", "setsid",
	"setuidgid", "sg", "softlimit", "ssh", "ssh-agent", "sshpass", "start-stop-daemon", "stdbuf", "strace", "su",
	"su-exec", "sudo", "systemd-run", "taskset", "tini", "dumb-init", "timeout", "tmux", "torsocks", "unbuffer",
	"uname26", "unshare", "valgrind", "watch", "xargs", "xvfb-run", "ld.so",
}

// RunsOthers reports whether the purpose of a command is to run another program, whose name is in
// its arguments or its input. args[0] is a bare name.
func RunsOthers(args []string) bool {
	name := strings.ToLower(args[0])
	if slices.Contains(wrappers, name) || strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") {
		return true
	}
	if name == "find" || name == "gfind" {
		return slices.ContainsFunc(args, func(arg string) bool {
			return slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, arg)
		})
	}
	return false
}
