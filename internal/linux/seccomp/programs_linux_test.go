//go:build amd64 || arm64

package seccomp

import (
	"os"
	"testing"
)

// TestProgramsRun runs programs that skills use. Those that need sockets or other
// processes run with namespaces only.
func TestProgramsRun(t *testing.T) {
	const python = `
import subprocess, threading, multiprocessing, concurrent.futures, sqlite3, asyncio, tempfile, os, json, select
subprocess.run(["/bin/true"], check=True)
assert subprocess.check_output(["/bin/echo", "hi"], close_fds=True, start_new_session=True) == b"hi\n"
seen = []
ts = [threading.Thread(target=seen.append, args=(i,)) for i in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]
assert sorted(seen) == list(range(8))
with multiprocessing.get_context("fork").Pool(2) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]
with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as e: assert e.submit(abs, -3).result() == 3
with tempfile.TemporaryDirectory() as d:
    db = sqlite3.connect(os.path.join(d, "x.db")); db.execute("pragma journal_mode=wal"); db.execute("create table t(a)")
    db.execute("insert into t values(1)"); db.commit(); assert list(db.execute("select a from t")) == [(1,)]; db.close()
    with open(os.path.join(d, "full"), "wb") as f: os.posix_fallocate(f.fileno(), 0, 100000); assert os.fstat(f.fileno()).st_size == 100000
    os.mkfifo(os.path.join(d, "pipe")); os.chmod(d, 0o700); os.utime(d)
async def f():
    p = await asyncio.create_subprocess_exec("/bin/echo", "x", stdout=asyncio.subprocess.PIPE)
    return (await p.communicate())[0]
assert asyncio.run(f()) == b"x\n"
multiprocessing.Lock(); multiprocessing.Queue()
print("good")`
	const pythonSockets = `
import socket, threading, http.client, http.server
assert socket.if_nameindex()
socket.getaddrinfo("127.0.0.1", 80)
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=s.handle_request).start()
c = http.client.HTTPConnection("127.0.0.1", s.server_port, timeout=20); c.request("HEAD", "/"); assert c.getresponse().status == 200
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.send(b"x"); assert b.recv(1) == b"x"
print("good")`
	const pythonOthers = `
import os, resource, subprocess, threading
go = threading.Event()
t = threading.Thread(target=go.wait); t.start()
tid = t.native_id
os.sched_setaffinity(tid, os.sched_getaffinity(tid)); os.setpriority(os.PRIO_PROCESS, tid, 1); os.sched_setscheduler(tid, os.SCHED_BATCH, os.sched_param(0))
go.set(); t.join()
p = subprocess.Popen(["/bin/sleep", "20"], start_new_session=True)
os.setpriority(os.PRIO_PGRP, p.pid, 5); resource.prlimit(p.pid, resource.RLIMIT_NOFILE); resource.prlimit(0, resource.RLIMIT_NOFILE, (64, 64)); resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))
p.kill(); p.wait()
print("good")`
	const node = `
const {execFileSync, spawn} = require("child_process"), {Worker} = require("worker_threads"), fs = require("fs")
if (execFileSync("/bin/echo", ["hi"]).toString() !== "hi\n") throw 1
fs.writeFileSync("x", "y"); fs.promises.readFile("x").then(() => {
  new Worker("require('worker_threads').parentPort.postMessage(1)", {eval: true}).on("message", () => {
    spawn("/bin/true").on("exit", code => console.log(code === 0 ? "good" : "bad"))
  })
})`
	for _, c := range []struct {
		name    string
		program string
		args    []string
		spaces  bool // runs under the policy "namespaces" only
	}{
		{"sh", "/bin/sh", []string{"-c", "x=$(echo a | tr a b) && mkdir d && cp -p /bin/true d/ && d/true && [ $x = b ] && (sleep 20 & kill $!) && echo good"}, false},
		{"python3", "/usr/bin/python3", []string{"-I", "-c", python}, false},
		{"python3 with sockets", "/usr/bin/python3", []string{"-I", "-c", pythonSockets}, true},
		{"python3 with other processes", "/usr/bin/python3", []string{"-I", "-c", pythonOthers}, true},
		{"node", "/usr/bin/node", []string{"-e", node}, false},
		{"bash", "/bin/bash", []string{"-c", "diff <(echo a) <(echo a) && coproc cat && cat <<<x >/dev/null && ulimit -n 64 && echo good"}, false},
		{"perl", "/usr/bin/perl", []string{"-e", `system("/bin/true") == 0 or die; my $p = fork; exit 0 unless $p; waitpid $p, 0; open my $f, "|-", "cat"; print $f "good\n"`}, false},
		{"git", "/usr/bin/git", []string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "alias.all=!git init -q . && echo x > f && git add f && git -c user.name=a -c user.email=a@b commit -qm m && git gc -q && git fsck --no-progress >/dev/null && echo good", "all"}, false},
		{"sqlite3", "/usr/bin/sqlite3", []string{"x.db", "pragma journal_mode=wal; create table t(a); insert into t values(1); vacuum; select 'good' from t"}, false},
		{"ruby", "/usr/bin/ruby", []string{"-e", "raise unless system('/bin/true'); Thread.new { 1 }.join; puts(IO.popen(['echo', 'good']).read)"}, false},
	} {
		for name, p := range policies {
			if c.spaces && !p.Namespaces {
				continue
			}
			t.Run(c.name+"/"+name, func(t *testing.T) {
				if _, err := os.Stat(c.program); err != nil {
					t.Skipf("%s is not installed", c.program)
				}
				cmd := inside(t, name, "exec", append([]string{c.program}, c.args...)...)
				out, err := cmd.CombinedOutput()
				if err != nil || !endsInGood(out) {
					t.Errorf("%v: %s", err, out)
				}
			})
		}
	}
}

func endsInGood(out []byte) bool {
	const good = "good\n"
	return len(out) >= len(good) && string(out[len(out)-len(good):]) == good
}

// TestGoProgramRuns runs some of these tests again: the binary is a Go program.
func TestGoProgramRuns(t *testing.T) {
	for name := range policies {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := inside(t, name, "exec", self, "-test.run=^(TestRulesAreWhole|TestAboveTheTable)$")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
