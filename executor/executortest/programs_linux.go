//go:build amd64 || arm64

package executortest

import (
	"strings"
	"testing"
)

// program is a program that skills use and that must work in a sandbox as outside.
type program struct {
	name   string
	needs  string // a program that not every machine has
	script string // for bash; it ends with the word ok
	// lacks names what the program needs and Landlock alone does not allow: there it must fail.
	// It is empty if the program works.
	lacks string
}

var programs = []program{
	{"subprocesses", "python3", `python3 -c 'import subprocess as s; print(s.run(["sh", "-c", "cat; exit 3"], input=b"o", capture_output=True)); print(s.check_output("printf ok", shell=True).decode())'`, ""},
	{"process pool", "python3", `python3 -c 'import multiprocessing as m; print(m.Pool(3).map(abs, range(-9, 0)), "ok")'`, "/dev/shm"},
	{"semaphores and shared memory", "python3", `python3 - <<'E'
import multiprocessing as m
from multiprocessing import shared_memory
q, s = m.Queue(), m.Semaphore(1)
def work(q, s):
    with s: q.put("ok")
p = m.Process(target=work, args=(q, s)); p.start(); got = q.get(); p.join()
a = shared_memory.SharedMemory(create=True, size=4096); a.buf[0] = 7; a.close(); a.unlink()
print(got)
E`, "/dev/shm"},
	{"threads", "python3", `python3 -c 'from concurrent.futures import ThreadPoolExecutor as T; print(sum(T(20).map(abs, range(-9, 0))), "ok")'`, ""},
	{"asyncio", "python3", `python3 - <<'E'
import asyncio
async def main():
    p = await asyncio.create_subprocess_exec("printf", "ok", stdout=-1)
    print((await p.communicate())[0].decode())
asyncio.run(main())
E`, ""},
	{"server on loopback", "python3", `python3 - <<'E'
import socket, threading
s = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: s.accept()[0].sendall(b"ok")).start()
print(socket.create_connection(s.getsockname()).recv(9).decode())
E`, "sockets"},
	{"sqlite", "python3", `python3 -c 'import sqlite3; c = sqlite3.connect("a.db"); c.execute("pragma journal_mode=wal"); c.execute("create table t(x)"); c.execute("insert into t values (1)"); c.commit(); print(c.execute("select x from t").fetchall(), "ok")'`, ""},
	{"room for a file", "python3", `python3 -c 'import os; f = os.open("room", os.O_CREAT | os.O_RDWR); os.posix_fallocate(f, 0, 1 << 20); print(os.fstat(f).st_size == 1 << 20 and "ok")'`, ""},
	{"temporary files", "python3", `python3 -c 'import tempfile as t; print(t.mkdtemp(), t.NamedTemporaryFile().write(b"x"), "ok")'`, ""},
	{"virtual environment", "python3", `python3 -m venv --without-pip env && env/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix and "ok")'`, ""},
	{"terminal of its own", "python3", `python3 -c 'import pty, os; print(pty.spawn(["tty"]), "ok")'`, "/dev/ptmx"},
	{"time zones, hosts and users", "python3", `python3 -c 'import os, pwd, socket, time; print(time.tzset(), socket.gethostbyname("localhost") if os.path.exists("/workspace") else "", os.path.expanduser("~"), "ok")'`, ""},
	{"node", "node", `node -e 'const c = require("child_process"), f = require("fs"), o = require("os"); f.writeFileSync("n", "o"); f.watch("n").close(); new (require("worker_threads").Worker)("1+1", {eval: true}).on("exit", () => console.log(o.cpus().length > 0, c.execSync("cat n; printf k").toString()))'`, ""},
	{"git", "git", `git init -q r && cd r && echo x > f && git add f && git -c user.email=a@b -c user.name=x commit -qm x && git clone -q . ../r2 && git log --oneline | grep -q x && git gc -q && echo ok`, "/etc/gitconfig"},
	{"perl", "perl", `perl -e '$p = fork; unless ($p) { exit 7 } waitpid $p, 0; print $? >> 8, ` + "`printf ok`" + `, "\n"'`, ""},
	{"substitution, here documents, coprocesses", "", `cat <<E; diff <(echo a) <(echo a); coproc { cat; }; echo ok >&"${COPROC[1]}"; read -r x <&"${COPROC[0]}"; echo "$x"
text
E`, ""},
	{"jobs and pipes", "", `set -o pipefail; (sleep 0.01; exit 3) & wait $! || yes | head -n 100000 | sort -u | tee >(cat >&2) | xargs echo ok; mkfifo p; echo ok > p & cat p`, ""},
	{"sqlite3", "sqlite3", `sqlite3 b.db 'create table t(x); insert into t values ("o"); select x || "k" from t' || echo ok`, ""},
	{"tar", "tar", `mkdir d && echo x > d/f && ln -s f d/l && tar czf d.tgz d && rm -r d && tar xzf d.tgz && cat d/l && echo ok`, ""},
	{"awk and sed", "awk", `seq 100 | awk '{s += $1} END {print s}' | sed s/5050/ok/`, ""},
	{"script", "script", `script -qec 'tty && printf ok' /dev/null`, "/dev/ptmx"},
	{"locks", "flock", `flock f -c 'flock -n f true || printf ok'`, ""},
	{"timeout and kill", "", `timeout -s INT 0.1 sleep 5; sleep 5 & kill $!; wait $!; echo ok`, ""},
	{"compiler", "gcc", `printf 'int printf(const char*,...);int main(){printf("ok");}' > a.c && gcc a.c -o a && ./a`, "/tmp"},
}

// check runs a program if the machine has it.
func (p program) check(t *testing.T, b bench) {
	if p.needs != "" {
		if _, ok := find(p.needs); !ok {
			t.Skipf("this machine has no %s", p.needs)
		}
	}
	cmd := b.command("bash", "-c", p.script)
	cmd.Env = append(cmd.Env, "HOME="+b.home(), "LANG=C.UTF-8")
	result := b.run(cmd)
	out := strings.TrimSpace(result.Stdout.String())
	works := result.ExitCode == 0 && strings.HasSuffix(out, "ok")
	if p.lacks != "" && isolated(b.exec.Capabilities()) && !spaces(b.exec.Capabilities()) {
		there := b.run(b.command("test", "-e", p.lacks)).ExitCode == 0 // a container may not have it
		if there = there || p.lacks[0] != '/'; works == there {
			t.Errorf("works %v, without %s; docs/sandbox.md says something else", works, p.lacks)
		}
		return
	}
	if !works {
		t.Errorf("code %d, stdout %s, stderr %s", result.ExitCode, result.Stdout, result.Stderr)
	}
}

func compatible(t *testing.T, b bench) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.check(t, b.lender.bench(t, b.exec))
		})
	}
}
